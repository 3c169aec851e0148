import type { Row } from "@moorage/kernel/store";

/** The columns of a manifest that a pull needs, and the texts of the policy and the deprecation of its repo. */
export interface Pulled extends Pick<Row<"manifests">, "digest" | "media_type" | "content"> {
  policy: string | null;
  deprecation: string | null;
}
