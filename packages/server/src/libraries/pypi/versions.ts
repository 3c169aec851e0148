import { parse } from "@renovatebot/pep440";
import { isVersion, pypiKey } from "../../lib/versions/index.ts";
import { type Database, type Row, statement } from "../../store/index.ts";
import type { Settled } from "../artifacts/write.ts";

const selectEqual = statement<Row<"artifact_versions">>(
  "select * from artifact_versions where parent = ? and sort_key = ?",
);
const selectRemoved = statement<{ version: string }>(
  "select version from removed_versions where parent = ? and ecosystem = ? and name = ?",
);

/** The version that is equal to this one, however it is written: `1.0` for `1.0.0`. Source: PEP 440. */
export async function equalVersion(
  tx: Database,
  { uid }: Pick<Row<"artifacts">, "uid">,
  version: string,
): Promise<Row<"artifact_versions"> | undefined> {
  return (await selectEqual(tx, uid, pypiKey(version)))[0];
}

/** Whether a version that is equal to this one was removed. */
export async function isRemoved(
  tx: Database,
  { parent, ecosystem, normalized }: Row<"artifacts">,
  version: string,
): Promise<boolean> {
  const key = pypiKey(version);
  return (await selectRemoved(tx, parent, ecosystem, normalized)).some((removed) => pypiKey(removed.version) === key);
}

/**
 * What pip chooses when no version is asked for: of those that are not yanked the newest release, or where there is
 * none the newest pre-release. `offered`: the earliest first. Undefined when all are yanked. Sources: PEP 440,
 * "handling of pre-releases"; PEP 592.
 */
export function newestOf<T extends { version: string; yanked?: string | null | undefined }>(
  offered: readonly T[],
): T | undefined {
  const choosable = offered.filter(({ yanked }) => yanked === null || yanked === undefined);
  return choosable.findLast(({ version }) => !isPreRelease(version)) ?? choosable.at(-1);
}

/** What a project is in lists with these versions, the earliest first. Without one to choose its description stays. */
export function settledProject(versions: readonly Row<"artifact_versions">[]): Settled {
  const newest = newestOf(versions);
  return {
    latestVersion: newest?.version ?? "",
    ...(newest !== undefined && { description: newest.description }),
  };
}

/** Whether clients choose it only when they are asked to, or when there is no other. */
export function isPreRelease(version: string): boolean {
  const found = isVersion("pypi", version) ? parse(version) : null;
  return found === null || found.pre !== null || found.dev !== null;
}

const CUDA = /^cu\d{2,4}$/;

/** The version of CUDA that a version was built for, as digits: 121 of `2.4.0+cu121`, as PyTorch names its builds. */
export function cudaOf(version: string): string {
  const [, ...local] = version.split("+");
  const parts = local.flatMap((each) => each.split("."));
  return parts.findLast((part) => CUDA.test(part))?.slice("cu".length) ?? "";
}
