import { parse } from "@renovatebot/pep440";
import { isVersion, pypiKey } from "@moorage/kernel/lib/versions";
import type { Row } from "@moorage/kernel/store";
import type { PublishedVersion, VersionRules } from "../ecosystem/ecosystem.ts";
import type { ArtifactChange } from "../ecosystem/plan.ts";
import { type ProjectReadme, stateOf } from "./readme.ts";

/** What is published with a distribution beside itself. */
export interface AboutDistribution {
  /** That of its version, as far as the distribution says. */
  readme: ProjectReadme | undefined;
}

export const pypiVersions: VersionRules = {
  order: "pypi",
  sortKey: (version) => pypiKey(version),
  isPrerelease: isPreRelease,
  // `1.0` and `1.0.0` are one version. Source: PEP 440.
  areEqualByKey: true,
  grows: true,
  withdrawals: ["yanked"],
  cuda: cudaOf,
  settle: async (artifact, versions, added) => settledProject(artifact, await versions(), added),
  rejection(rejection) {
    const { name, version } = rejection;
    const words = {
      file: () =>
        `file already exists: another ${"file" in rejection ? rejection.file : ""} was published before, and a published file never changes`,
      version: () => `version ${version} of ${name} was published before`,
      removed: () => `version ${version} of ${name} was removed, and its number is not used again`,
      upstream: () => `version ${version} of ${name} is here from the upstream, and never changes`,
    };
    return { status: 409, message: `Already exists: ${words[rejection.why]()}` };
  },
};

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
function settledProject(
  { state }: Pick<Row<"artifacts">, "state">,
  versions: readonly Row<"artifact_versions">[],
  added: PublishedVersion | undefined,
): ArtifactChange {
  const newest = newestOf(versions);
  const isNewest = newest !== undefined && added !== undefined && pypiKey(newest.version) === pypiKey(added.version);
  return {
    latestVersion: newest?.version ?? "",
    ...(newest !== undefined && { description: newest.description }),
    ...(isNewest && { state: withReadme(state, newest.version, added) }),
  };
}

/** With the readme of a distribution of the newest version. One without a readme takes none away from that version. */
function withReadme(text: string, version: string, { about }: PublishedVersion): string {
  const { readme } = (about ?? {}) as Partial<AboutDistribution>;
  const state = stateOf(text);
  const isSame = state.readme?.version === version;
  if (readme === undefined || (readme.text === "" && isSame)) return text;
  return JSON.stringify({ ...state, readme: { ...readme, version } });
}

/** Whether clients choose it only when they are asked to, or when there is no other. */
function isPreRelease(version: string): boolean {
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
