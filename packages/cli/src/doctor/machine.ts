import { lookup } from "node:dns/promises";
import { existsSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import type { Config } from "@moorage/server";
import { isScarce, spaceOf } from "@moorage/kernel/lib/disk-space";
import { folderProblem } from "@moorage/kernel/lib/folder-fault";
import { bytesText } from "../output/sizes.ts";
import { type Check, examined, failed, notChecked, ok, warning } from "./check.ts";

const LITTLE_SHARE = 0.05;

/** The data folder: whether it can be written to, by whom that was found, and who may read it. */
export function examineFolder({ dataDir }: Config): Check {
  const name = "data folder";
  const folder = resolve(dataDir);
  if (!existsSync(folder)) return warning(name, `there is no ${folder} yet`, "the first moorage serve makes it");
  const problem = folderProblem(folder);
  if (problem !== undefined) return failed(name, `${folder}: ${problem}`, "MOORAGE_DATA_DIR names another folder");
  const { mode, uid: owner } = statSync(folder);
  const { uid, username } = userInfo();
  if (owner !== uid)
    return notChecked(
      name,
      `${folder} belongs to user ${owner}; whether that one can write there does not show to ${username} (${uid})`,
      "run moorage doctor as the user who runs the server",
    );
  return (mode & 0o077) !== 0
    ? warning(name, `${folder} is open to other users of the machine`, `chmod 700 ${folder}`)
    : ok(name, `${folder} can be written to, by its owner ${username} (${uid}) alone`);
}

/** The space that is left for the data folder. */
export async function examineDisk({ dataDir, diskReserveBytes }: Config): Promise<Check> {
  const name = "disk";
  const folder = resolve(dataDir);
  if (!existsSync(folder)) return notChecked(name, `there is no ${folder} yet`);
  const space = await spaceOf(folder);
  if (space === undefined)
    return failed(
      name,
      `the file system of ${folder} does not answer`,
      "look at the disk, or at the server of the share",
    );
  const { freeBytes, totalBytes, files, freeFiles } = space;
  const noFiles = files > 0 && freeFiles === 0 ? ", and it takes no more files" : "";
  const message = `${folder}: ${bytesText(freeBytes)} of ${bytesText(totalBytes)} free${noFiles}`;
  const fix = "delete what is not needed and run moorage gc, or enlarge it (docs/operations.md#a-full-disk)";
  if (isScarce(space)) return failed(name, message, fix);
  const isLittle = freeBytes < totalBytes * LITTLE_SHARE || freeBytes < 2 * diskReserveBytes;
  return isLittle ? warning(name, message, fix) : ok(name, message);
}

/** The hosts that the settings name, as this machine knows them. */
export async function examineNames(config: Config): Promise<Check[]> {
  const { baseUrl, registryUrl, databaseUrl, tracesUrl, blobsUrl, smtpUrl } = config;
  const urls = [baseUrl, registryUrl, databaseUrl, tracesUrl, smtpUrl];
  const hosts = [...urls, endpointOf(blobsUrl)]
    .map((url) => URL.parse(url)?.hostname ?? "")
    .filter((host) => host !== "" && !/^[\d.]+$|^\[/.test(host));
  const unique = [...new Set(hosts)];
  if (unique.length === 0) return [ok("DNS", "the settings name no host to look up")];
  return (
    await Promise.all(
      unique.map((host) => examined("DNS", () => examineName(host), { what: host, fix: NAME_FIX, patienceMs: 5_000 })),
    )
  ).flat();
}

const NAME_FIX = "add the name, or correct the setting that has it";

async function examineName(host: string): Promise<Check[]> {
  const addresses = await lookup(host, { all: true }).catch((error: NodeJS.ErrnoException) => error.code ?? "failed");
  return [
    typeof addresses === "string"
      ? failed("DNS", `${host}: ${addresses}`, NAME_FIX)
      : ok("DNS", `${host} is ${addresses.map(({ address }) => address).join(", ")}`),
  ];
}

function endpointOf(blobsUrl: string): string {
  return URL.parse(blobsUrl)?.searchParams.get("endpoint") ?? "";
}
