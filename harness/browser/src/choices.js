// The choices of a person: which drawn things stand for them.

/** @typedef {{ code: number, kind: string, text: string, [field: string]: unknown }} Action */

/**
 * The legal actions that a mark stands for. A mark has keys with spaces between them, and a key may leave out the last
 * fields: "found:37" stands for all ways to found with card 37. After "?" the page asks, even if there is only one.
 * @param {string} mark @param {Map<string, Action>} byKey
 */
export const meant = (mark, byKey) => {
  /** @type {Set<Action>} */
  const found = new Set();
  for (const key of mark.replaceAll("?", "").split(" ").filter(Boolean)) {
    const exact = byKey.get(key);
    if (exact) found.add(exact);
    else for (const [other, action] of byKey) if (other.startsWith(`${key}:`)) found.add(action);
  }
  return [...found];
};

/** Whether a tap on this mark asks before it does the action with this key. @param {string} mark @param {string} key */
export const asksFirst = (mark, key) =>
  mark.split(" ").some((each) => each.endsWith("?") && `${key}:`.startsWith(`${each.slice(0, -1)}:`));
