import { parse } from "@renovatebot/pep440";
import { isVersion } from "../../lib/versions/index.ts";
import type { Row } from "../../store/index.ts";
import type { Settled } from "../artifacts/write.ts";

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
