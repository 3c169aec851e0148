import { prerelease } from "semver";
import { semverKey } from "@moorage/kernel/lib/versions";
import type { Row } from "@moorage/kernel/store";
import { ORIGIN } from "../ecosystem/origin.ts";
import type { PublishedVersion, VersionRules } from "../ecosystem/ecosystem.ts";
import type { ArtifactChange } from "../ecosystem/plan.ts";
import { stateOf } from "./manifest.ts";

/** What is published with a version beside itself. */
export interface AboutPublished {
  /** Those of them that point to the version are set. */
  tags: Readonly<Record<string, string>>;
  /** That of the package, where the version is its latest. */
  readme: string;
}

export const npmVersions: VersionRules = {
  order: "semver",
  sortKey: semverKey,
  isPrerelease: (version) => prerelease(version) !== null,
  areEqualByKey: false,
  grows: false,
  withdrawals: ["deprecated"],
  settle: async (artifact, versions, added) =>
    added === undefined ? settledPackage(artifact, await versions()) : withAdded(artifact, added),
  // As npm's registry does.
  rejection: ({ version }) => ({
    status: 403,
    message: `You cannot publish over the previously published versions: ${version}.`,
  }),
};

/** Its tags come to point to a version that is added, `latest` also where the package has no version yet. */
function withAdded({ state: text }: Pick<Row<"artifacts">, "state">, added: PublishedVersion): ArtifactChange {
  const { version, description } = added;
  const { tags: given, readme } = added.about as AboutPublished;
  const state = stateOf(text);
  const tags = { ...state.tags };
  for (const [name, target] of Object.entries(given)) if (target === version) tags[name] = version;
  tags["latest"] ??= version;
  const isLatest = tags["latest"] === version;
  return {
    latestVersion: tags["latest"],
    ...(isLatest && description !== undefined && { description }),
    state: JSON.stringify({ ...state, tags, ...(isLatest && { readme }) }),
  };
}

/**
 * What a package is with these versions, the earliest first: tags that point to others go, and `latest` is never
 * without a version. `tags`: those that are to be set beside. Defaults to none.
 */
export function settledPackage(
  { state: text }: Pick<Row<"artifacts">, "state">,
  versions: readonly Row<"artifact_versions">[],
  given: Readonly<Record<string, string>> = {},
): ArtifactChange {
  const state = stateOf(text);
  const numbers = new Set(versions.map(({ version }) => version));
  // The tags of what is only of an upstream are the upstream's, which are not to be held fast here.
  const isOwn = versions.some(({ origin }) => origin === ORIGIN.published);
  const tags = Object.fromEntries(
    Object.entries({ ...state.tags, ...(isOwn && given) }).filter(([, version]) => numbers.has(version)),
  );
  if (isOwn) tags["latest"] ??= newestOf(versions);
  const latestVersion = tags["latest"] ?? newestOf(versions);
  const latest = versions.find(({ version }) => version === latestVersion);
  return {
    state: JSON.stringify({ ...state, tags }),
    latestVersion,
    description: latest?.description ?? "",
  };
}

/** The newest release; where there is none, the newest pre-release. */
function newestOf(versions: readonly Row<"artifact_versions">[]): string {
  const releases = versions.filter(({ version }) => prerelease(version) === null);
  return (releases.at(-1) ?? versions.at(-1))?.version ?? "";
}
