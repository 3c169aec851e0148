import { prerelease } from "semver";
import type { Row } from "../../store/index.ts";
import { ORIGIN } from "../artifacts/names.ts";
import type { Settled } from "../artifacts/write.ts";
import { stateOf } from "./manifest.ts";

/**
 * What a package comes to be with these versions, the earliest first: tags that point to others go, and `latest` is
 * never without a version. `tags`: those that are to be set beside. Defaults to none.
 */
export function settledPackage(
  { state: text }: Pick<Row<"artifacts">, "state">,
  versions: readonly Row<"artifact_versions">[],
  given: Readonly<Record<string, string>> = {},
): Settled {
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
