// `moorage owners grant`: an owner for an organization whose owners are locked out, on the server's machine.
import type { GrantedOwner } from "@moorage/server";
import type { Command } from "commander";
import { addOutputOptions, type OutputFlags } from "./output/output.ts";
import { formatOf } from "./output/format.ts";
import { jsonText } from "./output/json.ts";
import { UsageFailure } from "./command/failure.ts";
import { printable } from "./printable.ts";
import { addSettings, type FlagValues, namesPlace } from "./settings.ts";

/** Adds `moorage owners`. */
export function addOwners(program: Command): void {
  const owners = program
    .command("owners")
    .description("owners of organizations, for the operator of an installation; the server may run");
  const command = owners
    .command("grant")
    .description(
      "make an identity an owner of an organization, for whoever is locked out; nobody's rights are asked for",
    )
    .argument("<organization>", "its name or uid")
    .option(
      "--identity <uid>",
      "who becomes an owner: an identity's uid, or a person's verified e-mail address; default: the owner made at the first start, whose tokens moorage token prints",
    );
  addOutputOptions(command);
  const configOf = addSettings(command, namesPlace);
  command.action(async (organization: string, values: FlagValues & OutputFlags) => {
    const { kind } = formatOf(values);
    if (kind !== "table" && kind !== "json") throw new UsageFailure("must be table or json", { field: "--output" });
    const { grantOwnership } = await import("@moorage/server");
    const identity = values["identity"] as string | undefined;
    const granted = await grantOwnership(await configOf(values), { organization, identity });
    if (kind === "json")
      return console.log(
        jsonText({ ...granted, organization: { ...granted.organization }, identity: { ...granted.identity } }),
      );
    for (const line of linesOf(granted)) console.log(printable(line));
  });
}

function linesOf({ organization, identity, wasOwner, wayIn }: GrantedOwner): string[] {
  const who = `${identity.email === "" ? identity.name : identity.email} (${identity.uid})`;
  return [
    `${who} ${wasOwner ? "was" : "is now"} an owner of ${organization.name}${wasOwner ? " before: nothing was changed" : ""}`,
    ...(wayIn === "machine"
      ? [`its tokens are made on this machine alone: moorage token --identity ${identity.uid}`]
      : wayIn === "none"
        ? ["it cannot sign in: its keys have expired, or its identity provider is gone or has another issuer"]
        : []),
  ];
}
