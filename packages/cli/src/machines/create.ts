// `moorage identities create` by a form: the claim match, the role, and the lines with which the machine logs in.
import { conditionsOf, type FormResult, type FormValues, type MachineForm, readForm } from "@moorage/api/machines";
import { textIn } from "../api/json-fields.ts";
import { parentOf } from "../api/name-kinds.ts";
import type { JsonObject, RestClient } from "../api/rest.ts";
import { exitOf, Failure, UsageFailure } from "../command/failure.ts";
import { formatOf } from "../output/format.ts";
import { printMessage } from "../output/output.ts";
import { pad } from "../output/width.ts";
import { wrapped } from "../output/wrap.ts";
import { registryHost } from "../registry-host.ts";
import type { Extended, Extra } from "../resources/extension.ts";
import { quote } from "../shell.ts";
import { fieldFlag, typedIn } from "./flags.ts";

const COLUMNS = 80;

/** What the form's flags come to; undefined when no form was named. Throws a UsageFailure that names the flag. */
export async function beginForm(run: Extended): Promise<Extra | undefined> {
  const typed = typedIn(run.flags);
  if (typed === undefined) return undefined;
  const { form, values } = typed;
  const [other] = [...run.fieldFlags.filter((flag) => !PLAIN.includes(flag)), ...(run.flags["file"] ? ["--file"] : [])];
  if (other !== undefined) throw new UsageFailure(`and --${form.name} exclude each other`, { field: other });
  const read = readForm(form, values);
  if ("problems" in read) {
    const [{ field, message } = { field: "", message: "" }] = read.problems;
    throw new UsageFailure(message, { field: fieldFlag(form, field) });
  }
  const role = run.flags["role"] === undefined ? undefined : String(run.flags["role"]);
  // A role that is not there is said before anything is made.
  const roleUid = role === undefined ? undefined : await run.names.uidOf("role", role);
  return {
    resource: { claimMatch: JSON.parse(JSON.stringify(read.result.match)) as JsonObject },
    finish: async (answer) => {
      const isDryRun = run.flags["dryRun"] === true;
      if (roleUid !== undefined && !isDryRun) await bind(run.rest, answer, roleUid);
      await print(run, { form, values: read.values, result: read.result, answer, role, isDryRun });
    },
  };
}

/** What else may be said of an identity that a form makes. */
const PLAIN: readonly string[] = ["--description", "--company"];

/** Gives the identity the role on its group, or takes it away again. */
async function bind(rest: RestClient, answer: JsonObject, roleUid: string): Promise<void> {
  const uid = textIn(answer, "uid");
  try {
    await rest.call("POST", `/iam/v2/roleBindings/${parentOf(uid)}`, { body: { identityUid: uid, roleUid } });
  } catch (error) {
    const removed = await rest.call("DELETE", `/iam/v2/identities/${uid}`).then(
      () => true,
      () => false,
    );
    const left = removed ? "no identity was made" : `the identity ${uid} was made and has no role`;
    throw new Failure(`the role could not be given, and ${left}: ${(error as Error).message}`, {
      exit: exitOf(error),
      cause: error,
    });
  }
}

interface Made {
  form: MachineForm;
  values: FormValues;
  result: FormResult;
  answer: JsonObject;
  role: string | undefined;
  isDryRun: boolean;
}

/** Says what was made, on standard error; prints the lines to copy on standard output, unless another format is. */
async function print({ rest, names, flags }: Extended, made: Made): Promise<void> {
  const { form, values, result, answer, role, isDryRun } = made;
  const uid = textIn(answer, "uid");
  const group = await names.pathOf(parentOf(uid), "group");
  const name = `${group}/${textIn(answer, "name")}`;
  const conditions = conditionsOf(result.match);
  const width = Math.max(...conditions.map(({ claim }) => claim.length));
  const said = [
    ...wrapped(`${isDryRun ? "Would make" : "Made"} ${name}. It accepts tokens of ${result.accepts}`, COLUMNS),
    "",
    ...conditions.map(({ claim, by, value }) => `  ${pad(claim, width)}  ${pad(by, 7)}  ${value}`),
    ...result.warnings.flatMap(({ text, command }) => [
      "",
      ...wrapped(`Note: ${text}`, COLUMNS),
      ...(command === undefined ? [] : [`  ${command}`]),
    ]),
    "",
    ...(role === undefined
      ? [
          ...wrapped(`It has no role, and can do nothing until it has one${isDryRun ? "." : ":"}`, COLUMNS),
          ...(isDryRun
            ? []
            : [
                `  moorage bindings create ${/^[\w./-]+$/.test(group) ? group : quote(group)} --identity-uid ${uid} \\`,
                "      --role-uid registry.push",
              ]),
        ]
      : wrapped(
          `It ${isDryRun ? "would have" : "has"} the role ${role} in ${group} and everything below it.`,
          COLUMNS,
        )),
  ];
  printMessage(said.join("\n"));
  const { kind } = formatOf(flags);
  if (isDryRun || (kind !== "table" && kind !== "wide")) return;
  const [registry, url] = await Promise.all([registryHost(rest.url), issuerOf(rest)]);
  const { where, text } = form.snippet(values, { registry, url, identity: uid, group });
  printMessage(`\nFor ${where}:\n`);
  process.stdout.write(`${text}\n`);
}

/** The server's own URL, as tokens for it name it; where it does not say, the one that it is called by. */
async function issuerOf(rest: RestClient): Promise<string> {
  const document = await rest.call("GET", "/.well-known/oauth-authorization-server").catch(() => ({}));
  return textIn(document, "issuer") || rest.url;
}
