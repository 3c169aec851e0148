import type { Row } from "../../store/index.ts";
import type { Settled } from "../artifacts/write.ts";
import { latestOf } from "./commands.ts";

/** What an artifact is in lists with these versions, the earliest first. */
export function settledArtifact(versions: readonly Row<"artifact_versions">[]): Settled {
  const latestVersion = latestOf(versions.map(({ version }) => version));
  return {
    latestVersion,
    description: versions.find(({ version }) => version === latestVersion)?.description ?? "",
  };
}
