import { fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { authorize, placesOf } from "../auth/permissions/authorize.ts";
import { accessCommands } from "../auth/commands.ts";
import { signInFlowCommands } from "../auth/sign-in/commands.ts";
import { messageOf } from "../core/stored.ts";
import { audit, auditCommands, eventsOf } from "../audit/index.ts";
import { packed, unpacked } from "./latin1.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { Call, CallData } from "../core/call.ts";
import { openCall } from "./open-call.ts";
import { distributionCommands } from "../oci/commands.ts";
import { resolveRepository } from "../oci/names.ts";
import { pushCommands } from "../oci/push-terms.ts";
import { apiEvents, appendEvents, eventCommands } from "../events/index.ts";
import { requireTerms, signInCommands } from "../iam/index.ts";
import { leaseCommands } from "../jobs/leases.ts";
import type { Method } from "./methods.ts";
import { registryCommands } from "../registry/commands.ts";
import type { TermsDocument } from "../core/service.ts";
import type { Database } from "../store/index.ts";
import type { Command } from "../core/transactor.ts";

/**
 * A writing method of the API as it crosses to the writing thread: its message in bytes, as a Latin-1 string (see
 * packed).
 */
export interface MethodCall {
  method: string;
  request: string;
}

/** What commands are made with. */
export interface CommandContext {
  methods: Map<string, Method>;
  /** Uids of identities that may create organizations. */
  admins: readonly string[];
  secrets: Secrets;
  /** As for rooms. */
  terms?: readonly TermsDocument[];
}

/** Everything that writes, by name. Built alike wherever transactions are run. */
export function commandsOf({ methods, admins, secrets, terms = [] }: CommandContext) {
  const tellOf = apiEvents([...methods.values()].filter((method) => method.kind === "unary"));
  return {
    async method(call: Call, { method: name, request }: MethodCall): Promise<string> {
      const method = methods.get(name);
      if (method?.kind !== "unary") throw new Error(`there is no method ${name}`);
      const message = fromBinary(method.desc.input, unpacked(request));
      // Rights may have changed since the door looked: they are looked at again where the change is made.
      await authorize(method.desc, method.access, call, message, admins.includes(call.caller.identity));
      const places = placesOf(method.desc, method.access, message);
      await requireTerms(call, terms, name, places);
      const answer = messageOf(await method.run(call, message));
      for (const event of eventsOf(method.desc, method.access.resource, places[0] ?? "", message, answer))
        await audit(call, event);
      if (!isTrial(message)) tellOf.get(method.desc)?.(call, places[0] ?? "", answer);
      return packed(toBinary(method.desc.output, answer));
    },
    ...auditCommands(resolveRepository),
    ...accessCommands(secrets),
    ...signInFlowCommands,
    ...signInCommands,
    ...distributionCommands,
    ...pushCommands(terms),
    ...leaseCommands,
    ...registryCommands,
    ...eventCommands,
  };
}

export type Commands = ReturnType<typeof commandsOf>;

/** Whether the call only asks what it would do. */
function isTrial(request: Message): boolean {
  return (request as { validateOnly?: unknown }).validateOnly === true;
}

/** Runs a command in the transaction, and appends what it told of. */
export async function runCommand(command: Command, data: CallData, tx: Database, input: unknown): Promise<unknown> {
  const call = openCall(data, tx);
  // The sender's type says that the input is this command's.
  const answer = await command(call, input as never);
  await appendEvents(tx, data, call.happened);
  return answer;
}
