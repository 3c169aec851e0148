import assert from "node:assert/strict";
import {
  type DescMessage,
  type DescMethodUnary,
  fromJson,
  type JsonObject,
  type JsonValue,
  toJson,
} from "@bufbuild/protobuf";
import { GroupsService, TermsService } from "@moorage/api";
import { Terms } from "@moorage/api/v1/iam";
import { type Dice, diceOf } from "../dice.ts";
import { type Platform, TERMS_DOCUMENT } from "../platform.ts";
import { restCallOf } from "../rest-call.ts";
import { BATCH, IAM } from "./twin-iam.ts";
import type { Fields, Kind, KindName, Names, Request } from "./twin-kind.ts";
import { REGISTRY } from "./twin-registry.ts";
import { rowsOf } from "./twin-rows.ts";

/** One of two organizations in which the same is done. */
interface Twin {
  organization: string;
  /** The uids of what was made, by its number. */
  uids: string[];
}

/** A resource that was made in both, perhaps deleted since. */
interface Made {
  kind: KindName;
  name: string;
  /** The number of what it is below. */
  parent: number;
  isGone: boolean;
}

/** The same by both versions, in an organization with these uids. */
interface Step {
  what: string;
  v1(twin: Twin): Request;
  v2(twin: Twin): Request;
  /** What it makes, and the number of what it deletes, when it succeeds. */
  made?: { kind: KindName; parent: number; name: string; count: number };
  removes?: number;
}

const KINDS: Readonly<Record<KindName, Kind>> = { ...IAM, ...REGISTRY };
const ORGANIZATION = 0;
const KIND_NAMES = Object.keys(KINDS) as KindName[];
const FIRST_STEPS = 10;
const MORE_STEPS = 21;

/**
 * Does 10 to 30 random steps in two new organizations: in one by v1 or v2 at random, in the other by v2 alone. Asserts
 * that each step has the same outcome in both, and that both have the same rows in the end. Returns how many steps had
 * which code.
 */
export async function runTwins(platform: Platform, seed: number, count: number): Promise<Map<number, number>> {
  const dice = diceOf(seed, count);
  const token = await platform.token();
  const names = [`twin-${count}-mixed`, `twin-${count}-plain`];
  const [mixed, plain] = [await found(platform, token, names[0] ?? ""), await found(platform, token, names[1] ?? "")];
  const made: Made[] = [{ kind: "group", name: "", parent: ORGANIZATION, isGone: false }];
  const constant = { identity: platform.owner, role: await platform.role("viewer") };
  const [done, codes] = [[] as string[], new Map<number, number>()];
  for (let left = FIRST_STEPS + dice.below(MORE_STEPS); left > 0; left -= 1) {
    const step = stepOf(dice, made, constant);
    const isV1 = dice.chance(0.5);
    done.push(`${isV1 ? "v1" : "v2"} ${step.what}`);
    const one = await send(platform, token, isV1 ? step.v1(mixed) : step.v2(mixed), dice.chance(0.5));
    const two = await send(platform, token, step.v2(plain), dice.chance(0.5));
    const story = `MOORAGE_TEST_SEED=${seed}, sequence ${count}:\n${done.join("\n")}`;
    assert.equal(one.code, two.code, `${story}\n${JSON.stringify(one.body)}\n${JSON.stringify(two.body)}`);
    codes.set(one.code, (codes.get(one.code) ?? 0) + 1);
    if (one.code === 0) settle(step, made, [mixed, uidsOf(one.body)], [plain, uidsOf(two.body)]);
  }
  const rows = await Promise.all(
    [mixed, plain].map(async ({ organization, uids }, at) => {
      // Of several with one uid, as a tag that was made twice, it has the number of the first.
      const numbers = new Map([...uids.entries()].toReversed().map(([number, uid]) => [uid, `#${number}`]));
      const lines = await rowsOf(platform.reader, organization, numbers);
      return lines.map((line) => line.replaceAll(names[at] ?? "", "organization"));
    }),
  );
  assert.deepEqual(rows[0], rows[1], `MOORAGE_TEST_SEED=${seed}, sequence ${count}:\n${done.join("\n")}`);
  return codes;
}

async function found(platform: Platform, token: string, name: string): Promise<Twin> {
  const { message } = await platform.grpc.call(GroupsService.method.createGroup, { group: { name } }, token);
  assert.ok(message);
  return { organization: message.uid, uids: [message.uid] };
}

function stepOf(dice: Dice, made: readonly Made[], constant: Readonly<Partial<Record<KindName, string>>>): Step {
  // Mostly what is there; now and then what was deleted.
  const choices = new Map<KindName, number[]>(KIND_NAMES.map((kind) => [kind, []]));
  for (const [number, { kind, isGone }] of made.entries())
    if (!isGone || dice.chance(0.25)) choices.get(kind)?.push(number);
  const among = (kind: KindName): number[] => choices.get(kind) ?? [];
  /** Fields for one organization: whatever is random is the same for both, but for uids. */
  const fieldsOf = (kind: KindName): ((twin: Twin) => Fields) => {
    const seed = dice.below(2 ** 31);
    return ({ uids }) => {
      const own = diceOf(seed);
      const one: Names["one"] = (name) => {
        const [uid, numbers] = [constant[name], among(name)];
        if (numbers.length === 0 || (uid !== undefined && own.chance(0.3))) return uid ?? "";
        return uids[own.pick(numbers)] ?? "";
      };
      return KINDS[kind].fields({ one, dice: own });
    };
  };
  const act = dice.below(20);
  const targets = [...choices.values()].flat().filter((number) => number !== ORGANIZATION);
  if (targets.length > 0 && act < 11) return changeOf(dice, act < 8, dice.pick(targets), made, fieldsOf);
  const kind = dice.pick(KIND_NAMES.filter((each) => among(KINDS[each].parent).length > 0));
  const { v1, v2, parent: above } = KINDS[kind];
  const parent = dice.pick(among(above));
  const at = ({ uids }: Twin): string => uids[parent] ?? "";
  if (kind === "binding" && act < 14) {
    const all = Array.from({ length: 1 + dice.below(3) }, () => fieldsOf(kind));
    return {
      what: `make ${all.length} bindings below #${parent}`,
      v1: (twin) =>
        BATCH.v1(
          at(twin),
          all.map((fields) => fields(twin)),
        ),
      v2: (twin) =>
        BATCH.v2(
          at(twin),
          all.map((fields) => fields(twin)),
        ),
      made: { kind, parent, name: "", count: all.length },
    };
  }
  if (kind === "group" && act < 13) {
    const documentIds = [TERMS_DOCUMENT];
    return {
      what: `accept terms for #${parent}`,
      v1: (twin) => [Terms.method.acceptTerms, { group: at(twin), documentIds }],
      v2: (twin) => [TermsService.method.acceptTerms, { group: at(twin), documentIds }],
    };
  }
  const fields = fieldsOf(kind);
  const name = String(fields({ organization: "", uids: [] })["name"] ?? "");
  return {
    what: `make ${kind} ${name} below #${parent}`,
    v1: (twin) => v1.create(at(twin), fields(twin)),
    v2: (twin) => v2.create(at(twin), fields(twin)),
    made: { kind, parent, name, count: 1 },
  };
}

/** A change of what was made: a replacement where there is one, else what only v2 can change, else its removal. */
function changeOf(
  dice: Dice,
  keeps: boolean,
  number: number,
  made: readonly Made[],
  fieldsOf: (kind: KindName) => (twin: Twin) => Fields,
): Step {
  const { kind, name, isGone, parent } = made[number] as Made;
  const { v1, v2, byV2 } = KINDS[kind];
  const [fields, seed] = [fieldsOf(kind), dice.below(2 ** 31)];
  const uidOf = ({ uids }: Twin): string => uids[number] ?? "";
  const [ofV1, ofV2] = [v1.replace, v2.replace];
  if (keeps && byV2 !== undefined && (ofV1 === undefined || dice.chance(0.3))) {
    const request = (twin: Twin): Request => byV2(uidOf(twin), fields(twin), diceOf(seed));
    return { what: `change ${kind} #${number} by v2`, v1: request, v2: request };
  }
  if (keeps && ofV1 !== undefined && ofV2 !== undefined) {
    const target = ({ uids }: Twin) => ({ name, isGone, parent: uids[parent] ?? "" });
    return {
      what: `replace ${kind} #${number}`,
      v1: (twin) => ofV1(uidOf(twin), fields(twin), target(twin)),
      v2: (twin) => ofV2(uidOf(twin), fields(twin), target(twin)),
    };
  }
  return {
    what: `remove ${kind} #${number}`,
    v1: (twin) => v1.remove(uidOf(twin)),
    v2: (twin) => v2.remove(uidOf(twin)),
    removes: number,
  };
}

function settle(step: Step, made: Made[], ...answers: readonly [twin: Twin, uids: string[]][]): void {
  if (step.removes !== undefined) {
    const [[{ uids }] = [{ uids: [] as string[] }]] = answers;
    const removed = uids[step.removes] ?? "";
    const { kind } = made[step.removes] as Made;
    for (const [number, each] of made.entries()) {
      const uid = uids[number] ?? "";
      // An association has the uid of its group.
      if (kind === "association" ? each.kind === kind && uid === removed : `${uid}/`.startsWith(`${removed}/`))
        each.isGone = true;
    }
  }
  if (step.made === undefined) return;
  const { count, ...rest } = step.made;
  for (let at = 0; at < count; at += 1) {
    made.push({ ...rest, isGone: false });
    for (const [{ uids: known }, uids] of answers) known.push(uids[at] ?? "");
  }
}

/** The uids in the answer of either version, of one resource or of several. */
function uidsOf(body: Body): string[] {
  const several = body["roleBindings"] as Body[] | undefined;
  return (several ?? [body]).map(({ uid, id, group }) => String(uid ?? id ?? group ?? ""));
}

type Body = Readonly<Record<string, unknown>>;
interface Outcome {
  code: number;
  body: Body;
}

async function send(platform: Platform, token: string, [method, json]: Request, byGrpc: boolean): Promise<Outcome> {
  const request = fromJson<DescMessage>((method as DescMethodUnary).input, json);
  if (byGrpc) {
    const { message, error } = await platform.grpc.call(method, request, token);
    return message === undefined
      ? { code: error.code, body: error }
      : { code: 0, body: toJson(method.output, message) as JsonObject };
  }
  const rest = restCallOf(method, request);
  assert.ok(rest);
  const { status, body } = await platform.call(rest.verb, rest.path, { token, body: rest.body as JsonValue });
  return { code: status === 200 ? 0 : body.code, body };
}
