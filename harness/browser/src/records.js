// Whole records in the files of the site: what a link names is looked up in the site's lists, never used as an address.

/** @param {string} name @returns {Promise<any>} */
const json = async (name) => {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`The site's file ${name.replace("../", "")} could not be read (${answer.status}).`);
  return answer.json();
};

/** @param {string} name @returns {Promise<string>} */
const unpackedText = async (name) => {
  const answer = await fetch(name);
  if (!answer.ok || !answer.body) throw new Error(`The site's file ${name.replace("../", "")} could not be read (${answer.status}).`);
  return new Response(answer.body.pipeThrough(new DecompressionStream("gzip"))).text();
};

/** The record of a match of a run that the site has. @param {string} run @param {string} match @returns {Promise<string>} */
export const readRecord = async (run, match) => {
  const site = await json("../site.json");
  const known = site.runs.find((/** @type {{ folder: string }} */ each) => each.folder === run);
  if (!known) throw new Error(`The site has no run ${run}.`);
  const folder = `../runs/${known.folder}`, list = await json(`${folder}/matches.json`);
  for (const game of list.games) {
    for (const [at, chunk] of game.chunks.entries()) {
      const place = JSON.parse(await unpackedText(`${folder}/${chunk}`)).ids.indexOf(match);
      if (place < 0) continue;
      const number = at * list.chunk + place;
      const file = game.records.findLast((/** @type {[number, string]} */ [first]) => first <= number);
      if (!file) throw new Error("The site has no records of this run yet: it is not finished, and they would give away its deals.");
      return (await unpackedText(`${folder}/${file[1]}`)).split("\n")[number - file[0]];
    }
  }
  throw new Error(`The run ${run} has no match ${match}.`);
};
