import { spawnSync } from "node:child_process";
import { ROOT } from "../bundle/programs.ts";

/**
 * The time that a release names wherever a format asks for one, in seconds since 1970: SOURCE_DATE_EPOCH, or when the
 * commit was made. Without both it is 1980-01-01: a time of today would make other bytes tomorrow.
 */
export function releaseTimeS(): number {
  const given = process.env["SOURCE_DATE_EPOCH"];
  if (given !== undefined && /^\d{1,11}$/.test(given)) return Number(given);
  const { status, stdout } = spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: ROOT, encoding: "utf8" });
  return status === 0 && /^\d+\n$/.test(stdout) ? Number(stdout) : 315_532_800;
}

/** The same as text of RFC 3339. */
export function releaseTime(): string {
  return new Date(releaseTimeS() * 1000).toISOString().replace(".000Z", "Z");
}
