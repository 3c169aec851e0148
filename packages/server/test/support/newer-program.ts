import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TestContext } from "node:test";
import { NEWEST_VERSION, type openStore, type Store } from "../../../kernel/src/store/index.ts";
import type { Config } from "../../src/index.ts";

/** The next version of the program: the sources of today with one more migration. */
export interface NewerProgram {
  /** The schema version that it works with. */
  schema: number;
  /** The program of test/support/server-process.ts. */
  serverProcess: string;
  /** Its store. */
  openStore(config: Config): Promise<Store>;
}

const SERVER = join(import.meta.dirname, "..", "..");
const ROOT = join(SERVER, "..", "..");
const END = "\n];\n\n/** The schema version of this program. */";

/**
 * Makes the next version of the program in a temporary folder. Its migration adds the table `parcels`, whose rows refer
 * to blobs by their digests: what a program that does not know the table takes for garbage.
 */
export function makeNewerProgram(t: TestContext): NewerProgram {
  const folder = mkdtempSync(join(tmpdir(), "moorage-newer-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const server = join(folder, "packages", "server");
  mkdirSync(join(server, "test", "support"), { recursive: true });
  cpSync(join(SERVER, "src"), join(server, "src"), { recursive: true });
  for (const file of ["package.json", "test/support/server-process.ts"]) cpSync(join(SERVER, file), join(server, file));
  for (const [from, to] of [
    [ROOT, folder],
    [SERVER, server],
  ] as const)
    if (existsSync(join(from, "node_modules"))) symlinkSync(join(from, "node_modules"), join(to, "node_modules"));
  const schema = NEWEST_VERSION + 1;
  const file = join(server, "src", "store", "migrations.ts");
  const text = readFileSync(file, "utf8");
  if (!text.includes(END)) throw new Error("the end of the migrations was not found");
  const migration = `  { version: ${schema}, name: "parcels", statements: ["create table parcels (digest KEY primary key)"] },`;
  writeFileSync(
    file,
    text.replace(END, () => `\n${migration}${END}`),
  );
  return {
    schema,
    serverProcess: join(server, "test", "support", "server-process.ts"),
    async openStore(config) {
      const index = pathToFileURL(join(server, "src", "store", "index.ts")).href;
      const store = (await import(index)) as { openStore: typeof openStore };
      return await store.openStore(config);
    },
  };
}
