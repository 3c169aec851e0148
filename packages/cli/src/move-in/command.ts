// `moorage import-from`: a registry moves in. A plan is made first, which only reads; then it is applied.
import type { Command } from "commander";
import { addServerOptions } from "../command/global-options.ts";
import { addOutputOptions } from "../output/output.ts";
import { addSettings, type FlagValues, namesPlace } from "../settings.ts";
import { repeatable } from "../tasks/options.ts";
import type { MoveInFlags } from "./flags.ts";

/** Adds `moorage import-from`. */
export function addImportFrom(program: Command): void {
  const command = program
    .command("import-from")
    .description(
      "move a registry in: make a plan, which only reads, then apply it. Kinds: oci, any registry with the protocol of OCI distribution; harbor and quay, by their own APIs, with since when tags point where; distribution, the folder of a docker-registry on the server's machine, whose content is linked, or its bucket of S3, whose content is copied; verdaccio, the npm packages that it holds itself; devpi, the Python projects of its indexes; nexus and artifactory, the npm packages, Python projects and Maven artifacts of their hosted repositories; of artifactory also images. Of Harbor and Quay members, robots, rules of immutable tags and of retention, quotas and caches of other registries come, too; of Harbor also labels, gates and replications. Not read are others by their own APIs: gitlab, ghcr, hub, ecr, gar, acr",
    )
    .argument("<kind>", "what it is: oci, harbor, quay, distribution, verdaccio, devpi, nexus or artifactory")
    .argument(
      "<address>",
      "where it is, as registry.example.com or http://127.0.0.1:5000; of distribution its folder, or s3://bucket/prefix",
    )
    .option("--into <group>", "the group that everything goes below, by its path")
    .option("--plan <file>", "write what would come to this file, and change nothing")
    .option(
      "--names <file>",
      "with --plan: the repositories, packages or indexes, one a line, where the registry does not list them or not all are to come",
    )
    .addOption(
      repeatable("--namespace <name>", "with --plan: a project of Harbor or an organization of Quay; may repeat"),
    )
    .option(
      "--issuer <url>",
      "with --plan, for harbor and quay: the OpenID issuer of its people; who is known here by it gets bindings, others invites",
    )
    .option("--username <name>", "with --plan: who reads the registry; it stays in this command")
    .option("--password-file <file>", "with --plan: a file with the password for that")
    .option("--apply <file>", "do what the plan says, as far as you may; the same command again goes on")
    .option("--history", "with --apply: also since when tags point where, as the registry says")
    .option(
      "--policies",
      "with --apply, for harbor and quay: also rules of immutable tags and of retention, quotas and upstreams; of Harbor gates and replications",
    )
    .option(
      "--secrets <file>",
      "with --apply, for harbor and quay: make tokens for robots and invites for people; passwords and codes go to this new file",
    )
    .option(
      "--public",
      "with --apply, for harbor and quay: what everybody pulls there without a log-in is public here, too, where the operator allows that",
    )
    .option(
      "--pull-username <name>",
      "with --apply: whom the server pulls the content as, of packages this command; anybody unless given",
    )
    .option("--pull-password-file <file>", "with --apply: a file with the password for that")
    .option(
      "--blobs-from <folder>",
      "with --apply, on the server's machine: link content that this folder of the registry has, or copy that of its bucket, s3://bucket/prefix, and fetch the rest",
    )
    .option("--finish", "with --apply: then end the following; what was not copied whole goes on");
  // Settings have --data-dir.
  addServerOptions(command, ["context", "url", "token", "timeout", "debug"]);
  addOutputOptions(command);
  const configOf = addSettings(command, namesPlace);
  command.action(async (kind: string, address: string, flags: MoveInFlags & FlagValues) => {
    const { moveIn } = await import("./run.ts");
    process.exitCode = await moveIn(kind, address, flags, () => configOf(flags));
  });
}
