// What is bundled, and how.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { type OutputOptions, rolldown } from "rolldown";
import { packageOfArea } from "../server-packages.ts";
import { type AddressOf, addresses } from "./addresses.ts";
import { TEST_SOURCES } from "./fingerprint.ts";

export const ROOT = dirname(dirname(import.meta.dirname));

/** The programs of a bundle by name, each with the source that it begins with. A name is a path without its ending. */
export type Programs = Readonly<Record<string, string>>;

/** The programs that somebody runs, below packages/cli/src: those that come with `moorage`. */
const CREDENTIAL_PROGRAMS = ["credential/main", "credential/kubelet-main", "credential/keyring-main"];

/** What a server starts besides itself, threads and processes, below the src of the package of its area. */
const WORKERS = [
  "runtime/sqlite-writer-thread",
  "boot/cluster-worker",
  "boot/large-process",
  "lib/process-pool/entry",
  "lib/process-pool/watchdog",
  "libraries/reading-child",
  "security/reading/reader-tasks",
  "trust/revocation/status-tasks",
  "trust/roots/tuf-tasks",
  "trust/verifying/verify-tasks",
];

/** All that is ever started. Each has the same place below the folder of the bundle as its source below `src`. */
export const PROGRAMS: Programs = Object.fromEntries([
  ...["main", ...CREDENTIAL_PROGRAMS].map((name) => [name, `packages/cli/src/${name}.ts`]),
  ...WORKERS.map((name) => [name, workerSource(name)]),
]);

function workerSource(name: string): string {
  return `packages/${packageOfArea(name.split("/")[0] ?? "") ?? "server"}/src/${name}.ts`;
}

/** Programs of tests that start many times. Only a bundle that stays in a repository with its tests has them. */
export const TEST_PROGRAMS: Programs = Object.fromEntries(
  Object.entries(TEST_SOURCES).filter(([, source]) => existsSync(join(ROOT, source))),
);

/**
 * Optional parts of dependencies, which nobody here installs: their imports stay, and fail as they do without a bundle.
 */
export const OPTIONAL = ["xmlbuilder2", "libxmljs2", "pg-native"];

/** Other forms of dependencies than Node would take: one that can be bundled, one that reads no file beside itself. */
export const ALIASES = { "jsonc-parser": "jsonc-parser/lib/esm/main.js", "jq-wasm": "jq-wasm/inline" };

/** How a bundle differs from one that stays in this repository. */
export interface BundleOptions {
  /** What `import.meta.url` is in a module of packages/, as an expression. By default its address as a source. */
  addressOf?: AddressOf;
  output?: OutputOptions;
}

/**
 * Writes the programs with all that they import, dependencies included, as few files: `<name>.js` for each, which is
 * the one to run, and parts that they share. Returns the paths of the modules that went in. Throws for an import that
 * leads nowhere.
 */
export async function writeBundle(dir: string, programs: Programs, options: BundleOptions = {}): Promise<string[]> {
  const bundle = await rolldown({
    cwd: ROOT,
    platform: "node",
    input: { ...programs },
    external: OPTIONAL,
    resolve: { alias: ALIASES },
    plugins: [addresses(options.addressOf)],
    onLog: failOnWarning,
  });
  try {
    const { output: files } = await bundle.write({
      dir,
      format: "esm",
      sourcemap: true,
      sourcemapExcludeSources: true,
      entryFileNames: ({ name }) => `${PARTS}/${name.replaceAll("/", "-")}.js`,
      chunkFileNames: `${PARTS}/[name]-[hash].js`,
      ...options.output,
    });
    for (const name of Object.keys(programs)) {
      const path = join(dir, `${name}.js`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, startOf(relative(dirname(path), dir).replaceAll(sep, "/") || ".", name));
    }
    return files
      .flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))
      .filter((id) => id.startsWith(ROOT + sep));
  } finally {
    await bundle.close();
  }
}

/** Fails on what is warned of, but for dynamic imports of what is there already, which are as good. */
export function failOnWarning(level: string, { code, message }: { code?: string; message: string }): void {
  if (level === "warn" && code !== "INEFFECTIVE_DYNAMIC_IMPORT") throw new Error(message);
}

/** The folder of the parts, in that of the bundle. */
const PARTS = "parts";

/**
 * What a program's file holds: it loads the bundled code after it has had Node read source maps, which is too late for
 * code that is loaded already. So stack traces name the sources, also in the log.
 */
function startOf(toFolder: string, name: string): string {
  return `import { setSourceMapsSupport } from "node:module";
setSourceMapsSupport(true);
await import("${toFolder}/${PARTS}/${name.replaceAll("/", "-")}.js");
`;
}
