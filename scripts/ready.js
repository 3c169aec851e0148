// Before the npm scripts, and after an installation as `prepare`: says in one line what is missing here, and makes the
// files that git does not have when a source is newer. With --node it makes none. Plain JavaScript of old versions: it
// may run on any Node.
import { existsSync } from "node:fs";

const isInstallation = process.argv.includes("--installation");
const [major, minor] = process.versions.node.split(".").map(Number);
const has = (path) => existsSync(new URL(`../${path}`, import.meta.url));

try {
  // The package of Node is empty when it was installed without its script.
  if (major < 24 || (major === 24 && minor < 15))
    throw new Error(
      `npm scripts run on Node 24.15 or later, and this is ${process.versions.node}: "npm rebuild node" brings Node 26`,
    );
  if (!has("node_modules/@bufbuild/protobuf")) throw new Error('nothing is installed here: run "npm ci"');
  // Where only what names the dependencies was copied, there are no sources.
  if (has("packages/cli/src") && !process.argv.includes("--node"))
    await (await import("./gen/if-stale.ts")).makeIfStale();
} catch (error) {
  console.error(error.message);
  // An installation goes on: the script that needs it says the same.
  process.exitCode = isInstallation ? 0 : 1;
}
