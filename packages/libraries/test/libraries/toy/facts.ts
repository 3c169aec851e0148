import type { VersionFacts } from "../../../src/libraries/policies/judge.ts";
import type { Row } from "../../../../kernel/src/store/index.ts";

/** What a version that is kept is judged by. */
export function factsOf({ version, origin, publish_time, metadata }: Row<"artifact_versions">): VersionFacts {
  const { license } = JSON.parse(metadata) as { license: string };
  return { version, origin, license, publishMs: publish_time };
}
