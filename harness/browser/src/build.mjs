// Bundles the scripts of the page into assets/: node build.mjs TOOLS [OUT], where TOOLS is made by .ci/node.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import path from "node:path";

const [tools, out] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const { build } = createRequire(path.resolve(tools, "package.json"))("esbuild");
await build({
  absWorkingDir: here,
  entryPoints: ["play", "write", "verify", "worker"].map((name) => `${name}.js`),
  outdir: path.resolve(out || path.join(here, "..", "assets")),
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "inline",
  nodePaths: [path.resolve(tools, "node_modules")],
  logLevel: "warning",
});
