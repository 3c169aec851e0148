import type { Row } from "@moorage/kernel/store";

/**
 * The columns of a manifest that a pull needs, and the texts of the policy and the deprecation of its repo. `signing`:
 * null as long as the installation has never had a policy of signatures.
 */
export interface Pulled extends Pick<Row<"manifests">, "digest" | "media_type" | "content"> {
  policy: string | null;
  deprecation: string | null;
  signing: number | null;
}
