// What is bundled, and how.
import { writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { type OutputOptions, rolldown } from "rolldown";

export const ROOT = dirname(dirname(import.meta.dirname));

/** The programs of a bundle by name, each with the source that it begins with. */
export type Programs = Readonly<Record<string, string>>;

/** Those that start with each server, so that their time counts. */
export const PROGRAMS: Programs = {
  "sqlite-writer-thread": "packages/server/src/runtime/sqlite-writer-thread.ts",
};

/**
 * Optional parts of dependencies, which nobody here installs: their imports stay, and fail as they do without a bundle.
 */
const OPTIONAL = ["xmlbuilder2", "libxmljs2", "pg-native"];

/**
 * What a program's file holds: it loads the bundled code after it has had Node read source maps, which is too late for
 * code that is loaded already. So stack traces name the sources, also in the log.
 */
const startOf = (name: string): string => `import { setSourceMapsSupport } from "node:module";
setSourceMapsSupport(true);
await import("./${name}.bundle.js");
`;

/**
 * Writes each program with all that it imports, dependencies included, as few files: `<name>.js`, which is the one to
 * run, and files beside it. `output`: what differs from that. Returns the paths of the modules that went in. Throws for
 * an import that leads nowhere.
 */
export async function writeBundle(dir: string, programs: Programs, output: OutputOptions = {}): Promise<string[]> {
  const bundle = await rolldown({
    cwd: ROOT,
    platform: "node",
    input: { ...programs },
    external: OPTIONAL,
    // It fails on what it warns of, but for dynamic imports of what is there already, which are as good.
    onLog(level, { code, message }) {
      if (level === "warn" && code !== "INEFFECTIVE_DYNAMIC_IMPORT") throw new Error(message);
    },
  });
  try {
    const { output: files } = await bundle.write({
      dir,
      format: "esm",
      sourcemap: true,
      sourcemapExcludeSources: true,
      entryFileNames: "[name].bundle.js",
      chunkFileNames: "[name]-[hash].js",
      ...output,
    });
    for (const name of Object.keys(programs)) writeFileSync(join(dir, `${name}.js`), startOf(name));
    return files
      .flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))
      .filter((id) => id.startsWith(ROOT + sep));
  } finally {
    await bundle.close();
  }
}
