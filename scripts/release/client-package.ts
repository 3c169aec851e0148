// The npm package that a server hands out: the command for clients, without the server.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandVersion, ONE_FILES } from "../bundle/one-file.ts";
import { ROOT } from "../bundle/programs.ts";
import { entriesOf, gzipped, tarOf } from "./tar.ts";

/** The manifest of the package. */
export function clientManifest(): Record<string, unknown> {
  return {
    name: "moorage",
    version: commandVersion(),
    description: "The moorage command for people and machines that talk to a server, without the server.",
    license: "Apache-2.0",
    engines: { node: ">=22" },
    bin: Object.fromEntries(Object.keys(ONE_FILES).map((name) => [name, `bin/${name}.cjs`])),
    files: ["bin", "completions"],
  };
}

/** The package, with these programs: the text of each one file by its name. */
export function clientPackage(programs: Readonly<Record<string, string>>): Buffer {
  const files = Object.entries(programs).map(([name, content]) => ({
    name: `package/bin/${name}.cjs`,
    content,
    mode: 0o755,
  }));
  return gzipped(
    tarOf([
      { name: "package/package.json", content: `${JSON.stringify(clientManifest(), null, 2)}\n` },
      { name: "package/LICENSE", content: readFileSync(join(ROOT, "LICENSE")) },
      { name: "package/README.md", content: readFileSync(join(ROOT, "README.md")) },
      ...entriesOf(join(ROOT, "packages/cli/completions"), "package/completions").filter(
        ({ content }) => content !== undefined,
      ),
      ...files,
    ]),
  );
}
