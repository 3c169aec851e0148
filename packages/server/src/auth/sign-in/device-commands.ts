import { audit } from "../../audit/index.ts";
import type { Call } from "../../core/call.ts";
import { Code } from "../../errors.ts";
import { grantTokens, type Granted, REDEEM, revokeFamily } from "./grant-commands.ts";
import { command } from "../../core/command.ts";

/** A device that waits for its person; see `device_codes`. */
export interface OpenDevice {
  hash: string;
  userCodeHash: string;
  clientId: string;
  provider: string;
  request: string;
  address: string;
  userAgent: string;
  family: string;
  intervalMs: number;
  expireTimeMs: number;
}

/** What a device is told; see RFC 8628 §3.5. */
export type Poll =
  { outcome: "granted"; granted: Granted } | { outcome: "pending" | "slow_down" | "denied" | "expired" | "unknown" };

// A device that asks too often waits so much longer from then on. Source: RFC 8628 §3.5.
const SLOWER_MS = 5_000;
// Clocks of the network: a request sent in time may come a little early after another one that was late.
const EARLY_MS = 500;
const KNOWN_AFTER_MS = 3_600_000;
const REMOVED_AT_ONCE = 100;

/** Answers whether it waits now: two devices with one user code would be told apart by nobody. */
export const openDevice = command("auth.openDevice", async (call: Call, device: OpenDevice): Promise<boolean> => {
  const ended = call.tx
    .selectFrom("device_codes")
    .select("hash")
    .where("expire_time", "<=", call.nowMs - KNOWN_AFTER_MS)
    .orderBy("expire_time")
    .limit(REMOVED_AT_ONCE);
  await call.tx.deleteFrom("device_codes").where("hash", "in", ended).execute();
  const taken = await call.tx
    .selectFrom("device_codes")
    .select("hash")
    .where("user_code_hash", "=", device.userCodeHash)
    .executeTakeFirst();
  if (taken !== undefined) return false;
  const { hash, userCodeHash, clientId, provider, request, address, userAgent, family, intervalMs, expireTimeMs } =
    device;
  await call.tx
    .insertInto("device_codes")
    .values({
      hash,
      user_code_hash: userCodeHash,
      client_id: clientId,
      provider,
      request,
      address,
      user_agent: userAgent,
      state: "pending",
      identity: "",
      caller: "",
      family,
      poll_time: 0,
      interval_ms: intervalMs,
      expire_time: expireTimeMs,
    })
    .execute();
  return true;
});

/** The person does not know the device. */
export const denyDevice = command("auth.denyDevice", async (call: Call, { hash }: { hash: string }): Promise<void> => {
  await call.tx
    .updateTable("device_codes")
    .set({ state: "denied" })
    .where("hash", "=", hash)
    .where("state", "=", "pending")
    .execute();
});

/**
 * The device asks for its tokens. They are given once; a code that comes again takes them along, as an authorization
 * code does.
 */
export const pollDevice = command(
  "auth.pollDevice",
  async (
    call: Call,
    { hash, clientId, refreshHash }: { hash: string; clientId: string; refreshHash: string },
  ): Promise<Poll> => {
    const row = await call.tx.selectFrom("device_codes").selectAll().where("hash", "=", hash).executeTakeFirst();
    if (row === undefined || row.client_id !== clientId) return { outcome: "unknown" };
    if (row.state === "used") {
      await revokeFamily(call, row.family);
      await audit(call, {
        method: REDEEM,
        resource: row.provider,
        identity: row.identity,
        decision: "denied",
        code: Code.Unauthenticated,
        reason: "CODE_REUSED",
      });
      return { outcome: "unknown" };
    }
    if (row.expire_time <= call.nowMs) return { outcome: "expired" };
    if (row.state === "denied") return { outcome: "denied" };
    const change = call.tx.updateTable("device_codes").where("hash", "=", hash);
    if (row.state === "approved") {
      await change.set({ state: "used" }).execute();
      const granted = await grantTokens(call, row, refreshHash);
      return granted === undefined ? { outcome: "denied" } : { outcome: "granted", granted };
    }
    const early = call.nowMs - row.poll_time < row.interval_ms - EARLY_MS;
    await change.set({ poll_time: call.nowMs, ...(early && { interval_ms: row.interval_ms + SLOWER_MS }) }).execute();
    return { outcome: early ? "slow_down" : "pending" };
  },
);
