import { isMavenPrerelease, mavenKey } from "@moorage/kernel/lib/versions";
import type { Row } from "@moorage/kernel/store";
import type { PublishedVersion, VersionRules } from "../ecosystem/ecosystem.ts";
import type { ArtifactChange } from "../ecosystem/plan.ts";
import { isSnapshot } from "./paths.ts";
import type { MavenState } from "./plugins.ts";

export const mavenVersions: VersionRules = {
  order: "maven",
  sortKey: (version) => mavenKey(version),
  isPrerelease: (version) => isMavenPrerelease(version),
  areEqualByKey: false,
  grows: true,
  withdrawals: [],
  settle: async (artifact, versions, added) =>
    added === undefined ? settledArtifact(await versions()) : withAdded(artifact, await versions(), added),
  rejection(rejection) {
    const { name, version } = rejection;
    const words = {
      file: () => `${"file" in rejection ? rejection.file : ""} of ${name}: a published file never changes`,
      version: () => `${version} of ${name} was published before`,
      removed: () => `version ${version} of ${name} was removed, and its number is not used again`,
      upstream: () => `${version} of ${name} came from the upstream: a version never changes`,
    };
    return { status: 409, message: `Already exists: ${words[rejection.why]()}` };
  },
};

/** What an artifact is when a file of a version was deployed. `about` is what that says of a plugin of Maven. */
function withAdded(
  { state }: Pick<Row<"artifacts">, "state">,
  versions: readonly Row<"artifact_versions">[],
  { version, description, about }: PublishedVersion,
): ArtifactChange {
  const latestVersion = latestOf(versions);
  return {
    latestVersion,
    state: JSON.stringify({ ...(JSON.parse(state) as MavenState), ...(about as MavenState) }),
    ...(latestVersion === version && description !== undefined && { description }),
  };
}

function settledArtifact(versions: readonly Row<"artifact_versions">[]): ArtifactChange {
  const latestVersion = latestOf(versions);
  return {
    latestVersion,
    description: versions.find(({ version }) => version === latestVersion)?.description ?? "",
  };
}

/** The newest release, or where there is none the newest snapshot. `versions`: the earliest first. */
function latestOf(versions: readonly Row<"artifact_versions">[]): string {
  return (versions.findLast(({ version }) => !isSnapshot(version)) ?? versions.at(-1))?.version ?? "";
}
