// Which of two a command works on that can do both: the installation of this machine, or a server over its API.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { belongsTo } from "./caller.ts";
import type { ServerFlags } from "./command/global-options.ts";
import { UsageFailure } from "./command/failure.ts";
import { readLogins } from "./credentials.ts";
import { namedBy } from "./sign-ins.ts";
import { type FlagValues, namesPlace } from "./settings.ts";

const DATA_DIR = "data";

/**
 * Whether a server is meant, in this order: not where a flag names a data folder or a database; where a flag names a
 * server, a context or a token; not where the environment names a data folder or a database; not where there is a data
 * folder ./data, unless another server was named; where a server is named or somebody is signed in to one.
 */
export async function isAboutServer(values: FlagValues & ServerFlags): Promise<boolean> {
  if (Object.keys(values).some((name) => /^(?:dataDir|database|blobsUrl|secretKey)/.test(name))) return false;
  if (values.url !== undefined || values.token !== undefined || values.context !== undefined) return true;
  if (Object.keys(process.env).some(namesPlace)) return false;
  const { url } = namedBy(values);
  if (existsSync(DATA_DIR)) return url !== undefined && !(await mayBelongTo(url));
  return url !== undefined || Object.keys(readLogins()).length > 0;
}

/** Whether the URL may be that of ./data: a folder whose server never ran has no URL yet. */
async function mayBelongTo(url: string): Promise<boolean> {
  if (!existsSync(join(DATA_DIR, "bootstrap.json"))) return true;
  return belongsTo(resolve(DATA_DIR), url);
}

/** Throws a UsageFailure for flags that are given and mean something for an installation of this machine alone. */
export function rejectLocalFlags(values: FlagValues, attributes: readonly string[]): void {
  for (const name of attributes)
    if (values[name] !== undefined)
      throw new UsageFailure("is for an installation of this machine", {
        field: `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      });
}
