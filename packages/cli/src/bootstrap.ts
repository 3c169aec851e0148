import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** What the first start of the server wrote into `<data>/bootstrap.json`. */
export type Bootstrap = {
  readonly baseUrl: string;
  readonly registryUrl: string;
  readonly organization: { readonly uid: string; readonly name: string };
  readonly publicOrganization: { readonly uid: string; readonly name: string };
  readonly identity: { readonly uid: string };
};

/** Reads `<dataDir>/bootstrap.json`. Throws an Error that names the file when it is not there or not readable. */
export async function readBootstrap(dataDir: string): Promise<Bootstrap> {
  const path = join(dataDir, "bootstrap.json");
  try {
    return JSON.parse(await readFile(path, "utf8")) as Bootstrap;
  } catch (cause) {
    throw new Error(`${path} cannot be read: was the server started with this data folder, by this user?`, { cause });
  }
}
