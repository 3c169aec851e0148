import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the first start created; `<data>/bootstrap.json` has the same for people and scripts. */
export interface Bootstrap {
  baseUrl: string;
  registryUrl: string;
  organization: { uid: string; name: string };
  publicOrganization: { uid: string; name: string };
  identity: { uid: string };
}

function fileOf(dataDir: string): string {
  return join(dataDir, "bootstrap.json");
}

/** Writes `bootstrap.json`, readable by its owner alone, with the URLs of this start. */
export function writeBootstrap(dataDir: string, bootstrap: Bootstrap): void {
  const file = fileOf(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(bootstrap, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Whether a server was started on the data folder before. */
export function hasBootstrap(dataDir: string): boolean {
  return existsSync(fileOf(dataDir));
}

export function readBootstrap(dataDir: string): Bootstrap {
  return JSON.parse(readFileSync(fileOf(dataDir), "utf8")) as Bootstrap;
}
