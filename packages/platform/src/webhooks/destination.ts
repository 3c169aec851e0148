import { type DeliveryTarget, isChat, subscriptionPlace } from "../events/index.ts";
import type { DeliveryDeps } from "./context.ts";
import { askSink, HANDSHAKE_EVERY_MS } from "./handshake.ts";
import type { Start } from "./outcomes.ts";
import { type Recipient, signingKey } from "./sign.ts";
import type { Sink } from "./sink.ts";
import type { SubscriptionState } from "./subscription-state.ts";

/** What an attempt needs: the connections to the sink, and the group and keys that events are signed for. */
export interface Open {
  sink: Sink;
  recipient: Recipient;
}

/** Whether the sink may be sent to. `handshake`: its answer, when it was asked just now. */
type Readiness =
  | { kind: "ready"; handshake?: { atMs: number; allowedRate: number } }
  | { kind: "rejected"; reason: string }
  | { kind: "failed"; error: string; start: Start };

/** Where the events of one subscription are sent during one run. */
export interface Destination {
  /** Undefined until `prepare` has opened it. */
  open(): Open | undefined;
  /** Opens the keys and connections for the target, and asks the sink whether it allows events, if that is due. */
  prepare(target: DeliveryTarget): Promise<Readiness>;
}

export function createDestination(
  subscription: string,
  { adaptiveRate, sink: sinkOf }: Pick<SubscriptionState, "adaptiveRate" | "sink">,
  { clock, config, secrets: sealing }: Pick<DeliveryDeps, "clock" | "config" | "secrets">,
): Destination {
  let recipient: (Recipient & { secrets: string }) | undefined;
  let sink: Sink | undefined;
  // A sink is asked at most once per run.
  let isAllowed = false;

  const setRecipient = ({ secrets, group, format }: DeliveryTarget): void => {
    const sealed = secrets.join(" ");
    if (recipient?.secrets === sealed) return;
    const place = subscriptionPlace(subscription);
    recipient = {
      secrets: sealed,
      group,
      format,
      keys: secrets.map((secret) => signingKey(sealing.open(secret, place))),
    };
  };

  return {
    open: () => sink && recipient && { sink, recipient },
    async prepare(target) {
      setRecipient(target);
      sink ??= await sinkOf(target);
      // What takes messages for people knows no handshake.
      if (isAllowed || isChat(target.format)) return { kind: "ready" };
      const nowMs = clock.nowMs();
      if (target.handshakeMs !== undefined && Math.abs(nowMs - target.handshakeMs) < HANDSHAKE_EVERY_MS) {
        adaptiveRate.allow(target.allowedRate, performance.now(), false);
        return { kind: "ready" };
      }
      const start = { timeMs: nowMs, ms: performance.now() };
      const answer = await askSink(sink, new URL(config.baseUrl).hostname);
      if (answer.kind === "rejected") return answer;
      if (answer.kind === "failed") return { ...answer, start };
      isAllowed = true;
      adaptiveRate.allow(answer.ratePerMinute, performance.now(), target.handshakeMs === undefined);
      return { kind: "ready", handshake: { atMs: nowMs, allowedRate: answer.ratePerMinute } };
    },
  };
}
