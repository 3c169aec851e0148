import type { Platform } from "./platform.ts";

/** A feed that says about the product `engine` that its release cycle 1 is past its end of life. */
export async function addProduct(platform: Platform): Promise<void> {
  await platform.transact(async (tx) => {
    const feed = "products";
    const none = {
      address: "",
      interval_ms: 0,
      products: "[]",
      origin: "command",
      run: "",
      etag: "",
      last_modified: "",
      restate: "",
    };
    const counts = { newest: null, records: 1, withdrawn: 0, problems: 0, duration_ms: null, error: "" };
    const times = { attempt_time: null, success_time: null, full_time: null, create_time: 0 };
    await tx
      .insertInto("feeds")
      .values({ name: feed, format: "endoflife", licence: "MIT", ...none, ...counts, ...times })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const body = JSON.stringify({ releases: [{ releaseCycle: "1", eol: true }] });
    const record = { modified: 0, withdrawn: null, removed: 0, hash: "", severity: "UNKNOWN", score_tenths: null };
    await tx
      .insertInto("feed_records")
      .values({ feed, id: "engine", ...record, body, change: 1 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
}
