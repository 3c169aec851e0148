import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TestContext } from "node:test";
import { NEWEST_VERSION, type openStore, type Store } from "../../../kernel/src/store/index.ts";
import { SERVER_PACKAGES } from "../../../../scripts/server-packages.ts";
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

const ROOT = join(import.meta.dirname, "../../../..");
const END = "\n];\n\n/** The schema version of this program. */";

/**
 * Makes the next version of the program in a temporary folder. Its migration adds the table `parcels`, whose rows refer
 * to blobs by their digests: what a program that does not know the table takes for garbage.
 */
export function makeNewerProgram(t: TestContext): NewerProgram {
  const folder = mkdtempSync(join(tmpdir(), "moorage-newer-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const packages = join(folder, "packages");
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@moorage"), { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules")).filter((each) => each !== "@moorage"))
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  symlinkSync(join(ROOT, "packages/api"), join(modules, "@moorage/api"));
  for (const { name } of SERVER_PACKAGES) {
    const [from, to] = [join(ROOT, "packages", name), join(packages, name)];
    cpSync(join(from, "src"), join(to, "src"), { recursive: true });
    cpSync(join(from, "package.json"), join(to, "package.json"));
    symlinkSync(to, join(modules, "@moorage", name));
    if (existsSync(join(from, "node_modules"))) symlinkSync(join(from, "node_modules"), join(to, "node_modules"));
  }
  const program = "server/test/support/server-process.ts";
  cpSync(join(ROOT, "packages", program), join(packages, program));
  const schema = NEWEST_VERSION + 1;
  const file = join(packages, "kernel/src/store/migrations.ts");
  const text = readFileSync(file, "utf8");
  if (!text.includes(END)) throw new Error("the end of the migrations was not found");
  const migration = `  { version: ${schema}, name: "parcels", statements: ["create table parcels (digest KEY primary key)"] },`;
  writeFileSync(
    file,
    text.replace(END, () => `\n${migration}${END}`),
  );
  return {
    schema,
    serverProcess: join(packages, program),
    async openStore(config) {
      const index = pathToFileURL(join(packages, "kernel/src/store/index.ts")).href;
      const store = (await import(index)) as { openStore: typeof openStore };
      return await store.openStore(config);
    },
  };
}
