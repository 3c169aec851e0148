// Makes the files that git does not have, out of packages/api/src/gen and of the sources of the command: the nouns and
// verbs of the command line, its completion, the client of the console, and the reference pages in build/docs. What
// each was made of is noted, so that if-stale.ts makes them again when that has changed.
import { globSync, readFileSync, rmSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { noteState, writeWhole } from "./state.ts";

const root = join(import.meta.dirname, "../..");
/** Folders that hold nothing else. */
const FOLDERS = ["packages/cli/src/gen", "packages/console/src/api/gen"];

// A folder changes when a file comes or goes.
const inputs = new Set([
  relative(root, import.meta.filename),
  "package-lock.json",
  "docs/cli",
  ...globSync("docs/cli/*.md", { cwd: root }),
]);
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:") && !url.includes("/node_modules/")) inputs.add(relative(root, fileURLToPath(url)));
    return next(url, context);
  },
});

const outputs = new Set<string>();
const [{ commandFiles }, { consoleFiles }, { eventTypesModule, eventsPage }] = await Promise.all([
  import("../cli-commands.ts"),
  import("../console-api.ts"),
  import("../event-types.ts"),
]);
for (const [name, text] of commandFiles()) write(`packages/cli/src/gen/${name}`, text);
for (const [name, text] of consoleFiles()) write(`packages/console/src/api/gen/${name}`, text);
write("packages/cli/src/gen/event-types.ts", eventTypesModule());
write("build/docs/events-reference.md", eventsPage());

// The tree of commands is made of what has just been written.
const [{ documentedProgram }, { completionModule, commandsPage }] = await Promise.all([
  import("../cli-tree.ts"),
  import("../cli-documents.ts"),
]);
const program = await documentedProgram();
write("packages/cli/src/gen/completion.ts", completionModule(program));
write("build/docs/cli.md", commandsPage(program));

for (const folder of FOLDERS)
  for (const path of globSync(`${folder}/**/*.*`, { cwd: root })) if (!outputs.has(path)) rmSync(join(root, path));
noteState(
  root,
  [...inputs].filter((path) => !outputs.has(path)),
  outputs,
);

/** One that has not changed stays as it is: what is made of it need not be made again. */
function write(path: string, text: string): void {
  outputs.add(path);
  if (textOf(path) !== text) writeWhole(join(root, path), text);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return undefined;
  }
}
