// A program as one file that Node runs by itself: the launcher in front of it, and the parts of its bundle as text.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { deflateRawSync } from "node:zlib";
import { type Plugin, rolldown } from "rolldown";
import { noticesOf } from "./notices.ts";
import { ALIASES, failOnWarning, OPTIONAL, ROOT } from "./programs.ts";

const CLI = join(ROOT, "packages/cli");
const SOURCES = join(CLI, "src");

/** The programs that are made so, each with the source that it begins with. */
export const ONE_FILES = {
  moorage: "packages/cli/src/one-file/main.ts",
  "docker-credential-moorage": "packages/cli/src/one-file/helper-main.ts",
  "moorage-credential-kubelet": "packages/cli/src/one-file/kubelet-main.ts",
  "moorage-keyring": "packages/cli/src/one-file/keyring-main.ts",
} as const;

/** What stands in a file for the modules that need the package around them, or a server. */
const REPLACED: Readonly<Record<string, string>> = {
  [join(SOURCES, "version.ts")]: join(SOURCES, "one-file/version.ts"),
  [join(SOURCES, "package-files.ts")]: join(SOURCES, "one-file/package-files.ts"),
  "@moorage/server": join(SOURCES, "one-file/server.ts"),
  "@moorage/server/sign-token": join(SOURCES, "one-file/server.ts"),
};

const replacements: Plugin = {
  name: "replacements",
  resolveId(source, importer) {
    const path = source.startsWith(".") && importer !== undefined ? resolve(dirname(importer), source) : source;
    return REPLACED[path];
  },
};

/** A program as one file. */
export interface OneFile {
  readonly text: string;
  /** The paths of the modules that are in it. */
  readonly modules: readonly string[];
}

/** Makes one of the files, always the same from the same sources. Throws when they cannot be bundled. */
export async function oneFileOf(name: keyof typeof ONE_FILES): Promise<OneFile> {
  const bundle = await rolldown({
    cwd: ROOT,
    platform: "node",
    input: { [name]: ONE_FILES[name] },
    external: OPTIONAL,
    resolve: { alias: ALIASES },
    transform: {
      target: "node22",
      define: { PACKED_VERSION: JSON.stringify(commandVersion()), PACKED_COMPLETIONS: JSON.stringify(completions()) },
    },
    plugins: [replacements],
    onLog: failOnWarning,
  });
  try {
    const { output } = await bundle.generate({
      format: "cjs",
      entryFileNames: "[name]",
      chunkFileNames: "[name]-[hash]",
    });
    const chunks = output.filter((file) => file.type === "chunk");
    const modules = chunks.flatMap(({ moduleIds }) => moduleIds).toSorted();
    const parts = chunks.map(({ fileName, code }): [string, string] => [fileName, deflated(code)]).toSorted();
    return { text: fileText(name, Object.fromEntries(parts), noticesOf(modules)), modules };
  } finally {
    await bundle.close();
  }
}

/** The version of the package. */
export function commandVersion(): string {
  return (JSON.parse(readFileSync(join(CLI, "package.json"), "utf8")) as { version: string }).version;
}

function completions(): Record<string, string> {
  const folder = join(CLI, "completions");
  const names = readdirSync(folder).toSorted();
  return Object.fromEntries(names.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

function deflated(code: string): string {
  return deflateRawSync(code, { level: 9 }).toString("base64");
}

/**
 * The file: what stands before the parts can be read by very old versions of Node, which say then which one is needed.
 * A part is compiled when it is needed: most commands need a few of them.
 */
function fileText(name: string, parts: Record<string, string>, notices: string): string {
  const launcher = readFileSync(join(import.meta.dirname, "one-file-launcher.cjs"), "utf8")
    .replaceAll("NAME_OF_THE_PROGRAM", name)
    .replace("VERSION_OF_THE_PROGRAM", commandVersion())
    .replace('"PARTS_OF_THE_PROGRAM"', () => JSON.stringify(parts, null, 1));
  return `${launcher}\n/*\n${notices.replaceAll("*/", "* /")}*/\n`;
}
