import { randomBytes } from "node:crypto";

/** Why tests on S3 are left out, in one line; false when there is a server to test with. */
export const NO_S3 = process.env["MOORAGE_TEST_S3_URL"] ? false : "no S3 server; to run these tests, where Go is: .ci/versity.sh npm test -- s3";

/**
 * A place of its own on the S3 server to test with, as an s3:// URL. The usual AWS variables hold its keys. With `style` the bucket is a part of
 * the host's name, which ends in .localhost and which the system may not know: see `toLoopback`.
 */
export function s3Url(style: "path" | "virtual" = "path"): string {
  const url = new URL(process.env[style === "path" ? "MOORAGE_TEST_S3_URL" : "MOORAGE_TEST_S3_VIRTUAL_URL"] ?? "");
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${randomBytes(6).toString("hex")}`;
  return url.href;
}
