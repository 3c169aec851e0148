import { audit } from "@moorage/kernel/audit";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { Code } from "@moorage/kernel/errors";
import { grantTokens, type Granted, REDEEM, revokeFamily } from "./grant-commands.ts";
import { deleteEnded } from "../expiry.ts";

/** A device that waits for a person to sign in; a row of `device_codes`. */
export interface OpenDevice {
  hash: string;
  userCodeHash: string;
  clientId: string;
  provider: string;
  request: string;
  address: string;
  network: string;
  userAgent: string;
  family: string;
  intervalMs: number;
  expireTimeMs: number;
}

/** The answer to a device that polls the token endpoint; see RFC 8628 §3.5. */
export type Poll =
  | { outcome: "granted"; granted: Granted }
  | { outcome: "pending" | "slow_down" | "denied" | "expired" | "unknown" };

// How much longer the interval becomes for a device that polls too often. Source: RFC 8628 §3.5.
const SLOWER_MS = 5_000;
// Tolerance for network delay: a request sent in time may arrive a little early when the one before it was delayed.
const EARLY_MS = 500;
const KNOWN_AFTER_MS = 3_600_000;

/**
 * Stores the device. Answers false, and stores nothing, when its user code is in use: two devices with one user code
 * could not be distinguished.
 */
export const openDevice = command("auth.openDevice", async (call: Call, device: OpenDevice): Promise<boolean> => {
  await deleteEnded(call.tx, "device_codes", call.nowMs - KNOWN_AFTER_MS);
  const taken = await call.tx
    .selectFrom("device_codes")
    .select("hash")
    .where("user_code_hash", "=", device.userCodeHash)
    .executeTakeFirst();
  if (taken !== undefined) return false;
  const {
    hash,
    userCodeHash,
    clientId,
    provider,
    request,
    address,
    network,
    userAgent,
    family,
    intervalMs,
    expireTimeMs,
  } = device;
  await call.tx
    .insertInto("device_codes")
    .values({
      hash,
      user_code_hash: userCodeHash,
      client_id: clientId,
      provider,
      request,
      address,
      network,
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

/** The person declined to sign the device in. */
export const denyDevice = command("auth.denyDevice", async (call: Call, { hash }: { hash: string }): Promise<void> => {
  await call.tx
    .updateTable("device_codes")
    .set({ state: "denied" })
    .where("hash", "=", hash)
    .where("state", "=", "pending")
    .execute();
});

/**
 * The device polls for its tokens. They are issued once; a device code that is used again revokes them, as an
 * authorization code does.
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
        resource: row.provider || row.identity,
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
    const sinceMs = call.nowMs - row.poll_time;
    // Less than nothing: the clock was set back since.
    const early = sinceMs >= 0 && sinceMs < row.interval_ms - EARLY_MS;
    await change.set({ poll_time: call.nowMs, ...(early && { interval_ms: row.interval_ms + SLOWER_MS }) }).execute();
    return { outcome: early ? "slow_down" : "pending" };
  },
);
