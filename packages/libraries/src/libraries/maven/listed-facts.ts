import type { Row } from "@moorage/kernel/store";
import type { VersionFacts } from "../policies/judge.ts";
import type { KeptMetadata } from "./pom-facts.ts";

/** What of a version says by what it is judged. */
export type VersionRow = Pick<Row<"artifact_versions">, "version" | "origin" | "publish_time" | "metadata">;

/** What a release is judged by of which only its row is looked at, as in metadata, which have hundreds of them. */
export function listedFacts({ version, origin, publish_time: publishMs, metadata }: VersionRow): VersionFacts {
  const { license = null, parent = null } = JSON.parse(metadata) as KeptMetadata;
  return { version, origin, publishMs, license: license === "" && parent !== null ? null : license };
}
