import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

/** Why tests on S3 are skipped, in one line; false when there is a server to test with. */
export const NO_S3 = process.env["MOORAGE_TEST_S3_URL"]
  ? false
  : "no S3 server; to run these tests, where Go is: .ci/versity.sh npm test -- s3";

/**
 * A prefix of its own on the S3 server under test, as an s3:// URL. The usual AWS variables have its keys. With `style`
 * the bucket is a part of the host name, which ends in .localhost and which the system's resolver may not resolve.
 */
export function s3Url(style: "path" | "virtual" = "path"): string {
  const url = new URL(process.env[style === "path" ? "MOORAGE_TEST_S3_URL" : "MOORAGE_TEST_S3_VIRTUAL_URL"] ?? "");
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${randomBytes(6).toString("hex")}`;
  return url.href;
}

/** A way to the S3 server on which faults are played. `url` is the given URL through the proxy. */
export interface Way {
  url: string;
  proxy: FaultProxy;
  /** Closes all connections and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** From now on no bytes are forwarded back, and no connection is closed. */
  freeze(): void;
  /** Resolves once that many more bytes were sent to the server. */
  sent(bytes: number): Promise<void>;
}

export async function wayTo(t: TestContext, s3: string): Promise<Way> {
  const url = new URL(s3);
  const proxy = await startFaultProxy([Number(new URL(url.searchParams.get("endpoint") ?? "").port)]);
  t.after(() => proxy.close());
  url.searchParams.set("endpoint", `http://127.0.0.1:${proxy.port}`);
  return {
    url: url.href,
    proxy,
    cut: () => proxy.refuse(),
    mend: () => proxy.listen(),
    freeze: () => proxy.toClient.stall(),
    sent: (bytes) => proxy.toServer.more(bytes),
  };
}
