import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { CreateSubscriptionRequestSchema, SubscriptionTestSchema } from "@moorage/api/messages";
import type { Config } from "@moorage/kernel/config";
import type { SinkTests } from "@moorage/kernel/core/service";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Clock } from "@moorage/kernel/lib/clock";
import { organizationOf } from "@moorage/kernel/lib/uid";
import type { Tokens } from "../auth/index.ts";
import { createSinkCheck, isChat, TEST_TYPE, testEvent } from "../events/index.ts";
import { createLookups } from "./dns.ts";
import { askSink } from "./handshake.ts";
import { signedRequest } from "./sign.ts";
import { openSink, type Sink } from "./sink.ts";

interface SinkTestDeps {
  config: Pick<
    Config,
    "allowPrivateNetwork" | "dnsServers" | "baseUrl" | "eventsPrefix" | "eventsTimeoutMs" | "grpcPackageAliases"
  >;
  /** Called when the first event is signed. */
  tokens(): Pick<Tokens, "mint">;
  clock: Clock;
}

type Asked = Parameters<SinkTests["test"]>[0];
type SinkOutcome = Awaited<ReturnType<SinkTests["test"]>>;

/** Somebody waits for the answer. */
const LONGEST_MS = 10_000;
const MAX_OF_ORGANIZATION = 2;
const BODY_TYPES = new Map([[TEST_TYPE, SubscriptionTestSchema.typeName]]);

/**
 * Sends test events as deliveries are sent: by the same rules of addresses, with the handshake, and the token of this
 * issuer. There is no secret yet that could sign.
 */
export function createSinkTests({ config, tokens, clock }: SinkTestDeps): SinkTests {
  const { allowPrivateNetwork, dnsServers } = config;
  const timeoutMs = Math.min(config.eventsTimeoutMs, LONGEST_MS);
  const checkSink = createSinkCheck(config);
  const lookups = createLookups({ allowPrivateNetwork, dnsServers, timeoutMs });
  const underWay = new Map<string, number>();

  const send = async (sink: Sink, { group, format, identity, nowMs }: Asked): Promise<[number, string]> => {
    if (!isChat(format)) {
      const handshake = await askSink(sink, new URL(config.baseUrl).hostname);
      if (handshake.kind === "failed") return [0, `handshake: ${handshake.error}`];
      if (handshake.kind === "rejected") return [0, handshake.reason];
    }
    const event = { ...testEvent(group, identity, nowMs), id: randomUUID(), group, number: 0 };
    const recipient = { group, format, keys: [] };
    const request = await signedRequest(event, recipient, { tokens: tokens(), config, clock, bodyTypes: BODY_TYPES });
    const { status, error } = await sink.send(request);
    return [status, error];
  };
  const attempt = async (asked: Asked): Promise<SinkOutcome> => {
    const lookup = lookups(organizationOf(asked.group), () => false);
    const sink = await openSink(asked.sink, { allowPrivateNetwork, timeoutMs, connections: 1, lookup });
    const startMs = performance.now();
    try {
      const [status, error] = await send(sink, asked);
      return { isDelivered: status >= 200 && status < 300, status, error, latencyMs: performance.now() - startMs };
    } finally {
      await sink.close();
    }
  };
  return {
    async test(asked) {
      const { group, sink: address } = asked;
      await checkSink(create(CreateSubscriptionRequestSchema, { parent: group, subscription: { sink: address } }));
      const organization = organizationOf(group);
      const others = underWay.get(organization) ?? 0;
      if (others >= MAX_OF_ORGANIZATION)
        throw new MoorageError(
          Code.ResourceExhausted,
          `Resource exhausted: ${MAX_OF_ORGANIZATION} tests of this organization are under way`,
        );
      underWay.set(organization, others + 1);
      try {
        return await attempt(asked);
      } finally {
        const left = (underWay.get(organization) ?? 1) - 1;
        if (left === 0) underWay.delete(organization);
        else underWay.set(organization, left);
      }
    },
  };
}
