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
 * The version that pip chooses when none is asked for: the newest release that is not yanked, or where there is none
 * the newest pre-release. `versions`: the earliest first. Undefined when all are yanked. Sources: PEP 440, "handling of
 * pre-releases"; PEP 592.
 */
export function newestOf(versions: readonly Row<"artifact_versions">[]): Row<"artifact_versions"> | undefined {
  const choosable = versions.filter(({ yanked }) => yanked === null);
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

function isPreRelease(version: string): boolean {
  const found = isVersion("pypi", version) ? parse(version) : null;
  return found === null || found.pre !== null || found.dev !== null;
}
