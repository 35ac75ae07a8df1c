// Builds the package twice: dist/esm for import, dist/cjs for require.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = fileURLToPath(new URL("node_modules/typescript/bin/tsc", import.meta.url));

rmSync(`${here}dist`, { recursive: true, force: true });
for (const project of ["tsconfig.json", "tsconfig.cjs.json"]) {
  const ran = spawnSync(process.execPath, [tsc, "-p", project], { cwd: here, stdio: "inherit" });
  if (ran.status !== 0) process.exit(ran.status ?? 1);
}
// The package is of type "module"; without this Node would read the .js files there as ESM.
mkdirSync(`${here}dist/cjs`, { recursive: true });
writeFileSync(`${here}dist/cjs/package.json`, '{ "type": "commonjs" }\n');
