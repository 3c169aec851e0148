import { type DescMethod, fromBinary, toBinary } from "@bufbuild/protobuf";
import { GroupSchema } from "@moorage/api/messages";
import { audit, eventsOf } from "@moorage/kernel/audit";
import type { AreaContext } from "@moorage/kernel/core/area";
import type { Call, CallData } from "@moorage/kernel/core/call";
import { type Command, command } from "@moorage/kernel/core/command";
import { clearSecrets } from "@moorage/kernel/core/dry-run";
import type { TermsDocument } from "@moorage/kernel/core/service";
import { messageOf } from "@moorage/kernel/core/stored-answer";
import { isStreamed } from "@moorage/kernel/core/streamed-answer";
import type { Work } from "@moorage/kernel/core/work";
import { type Database, declareChanges, takeWatchedRows, WATCHES_ROWS } from "@moorage/kernel/store";
import { authorize, placesOf } from "@moorage/platform/auth";
import { apiEvents, appendEvents, type Emit } from "@moorage/platform/events";
import { requireTerms } from "@moorage/platform/iam";
import { AREAS } from "../areas.ts";
import { requireDeclaredChanges } from "./declared-changes.ts";
import { packed, unpacked } from "./latin1.ts";
import { type Method, ruleOf } from "./methods.ts";
import { isOfInstallation } from "./of-installation.ts";
import { openCall } from "./open-call.ts";

/** What commands get beside their call and input, the same in every thread that runs transactions. */
export interface CommandContext extends AreaContext {
  methods: ReadonlyMap<string, Method>;
  /** How methods emit the events of their resources; see apiEvents. */
  events: ReadonlyMap<DescMethod, Emit>;
}

/** The parts from which a context is made. */
export interface CommandSettings extends Omit<CommandContext, "events" | "terms"> {
  /** The documents that can be accepted. Defaults to none. */
  terms?: readonly TermsDocument[] | undefined;
}

export function commandContext({ terms = [], ...settings }: CommandSettings): CommandContext {
  const events = apiEvents([...settings.methods.values()].filter((method) => method.kind === "unary"));
  return { ...settings, events, terms };
}

/**
 * A writing method of the API in the form that is sent to the writer thread: its message in bytes, as a Latin-1 string
 * (see packed).
 */
export interface MethodCall {
  method: string;
  request: string;
  /** See UnaryMethod.keyOf. */
  key: string | undefined;
  /** See isDryRun. */
  isDryRun: boolean;
}

// The standard methods that delete. Source: AIP-135, AIP-235.
const DELETING = /\.(?:BatchDelete|Delete)\w*$/;

/**
 * Runs a writing method of the API. All of them have this command's name in the metrics that docs/operations.md lists.
 */
export const callMethod = command(
  "method",
  async (call: Call, { method: name, request, isDryRun }: MethodCall, context: CommandContext): Promise<string> => {
    const method = context.methods.get(name);
    if (method?.kind !== "unary") throw new Error(`there is no method ${name}`);
    const message = fromBinary(method.desc.input, unpacked(request));
    // Rights may have changed since dispatch checked them, so they are checked again in the transaction.
    await authorize(method.desc, ruleOf(method, call), call, message, context.admins.includes(call.caller.identity));
    const places = placesOf(method.desc, method.access, message);
    await requireTerms(call, context.terms, name, places);
    const answered = await method.run(call, message);
    if (isStreamed(answered)) throw new Error(`${name} writes`);
    const answer = messageOf(answered);
    const [type, place = ""] = isOfInstallation(method)
      ? [GroupSchema.typeName, context.organization]
      : [method.access.resource, places[0]];
    for (const event of eventsOf(method.desc, type, place, answer)) await audit(call, event);
    context.events.get(method.desc)?.(call, places[0] ?? "", answer);
    if (isDryRun) clearSecrets(method.desc.output, answer);
    return packed(toBinary(method.desc.output, answer));
  },
  {
    sharingOf: ({ key }: MethodCall) => (key === undefined ? undefined : { kind: "methods", writes: [key] }),
    changes: ({ key }: MethodCall) => (key === undefined ? undefined : [key]),
    isDryRun: ({ isDryRun }: MethodCall) => isDryRun,
    runsWhileFull: ({ method }: MethodCall) => DELETING.test(method),
  },
);

/** A command of any input, to be run with this context. */
export type AnyCommand = Command<never, unknown, CommandContext>;

/** All commands. */
export const COMMANDS: readonly AnyCommand[] = [callMethod, ...AREAS.flatMap(({ commands = [] }) => commands)];

/** The commands by name. Throws when two have the same name. */
export function byName(commands: readonly AnyCommand[]): ReadonlyMap<string, AnyCommand> {
  const found = new Map<string, AnyCommand>();
  for (const one of commands) {
    if (found.has(one.name)) throw new Error(`there are two commands ${one.name}`);
    found.set(one.name, one);
  }
  return found;
}

const registered = byName(COMMANDS);

/** The registered command of this name. Throws when there is none. */
export function commandNamed(name: string): AnyCommand {
  const found = registered.get(name);
  if (found === undefined) throw new Error(`there is no command ${name}`);
  return found;
}

/** What a command came to: its output, and the background work to wake once its transaction is committed. */
export interface Ran {
  output: unknown;
  wakes: readonly Work[];
}

/** Runs a command in the transaction, and appends the events that it emitted, but those of a dry run. */
export async function runCommand(
  { name, run, numbering, changes, isDryRun }: AnyCommand,
  { data, input, tx, context }: { data: CallData; input: unknown; tx: Database; context: CommandContext },
): Promise<Ran> {
  const call = openCall(data, tx);
  if (WATCHES_ROWS) takeWatchedRows(tx);
  // The signature of Transactor.write says that the input is this command's.
  const output = await run(call, input as never, context);
  // Their numbers would not be rolled back on PostgreSQL.
  if (isDryRun(input as never)) return { output, wakes: [] };
  await appendEvents(tx, data, call.pendingEvents);
  if (call.pendingEvents.length > 0 && numbering === "soon") call.wake("deliveries");
  declareChanges(tx, () => changes(input as never, output));
  if (WATCHES_ROWS) requireDeclaredChanges(name, changes(input as never, output), takeWatchedRows(tx));
  return { output, wakes: [...call.wakes] };
}
