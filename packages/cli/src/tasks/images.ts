// The commands made by hand of `moorage images`; each loads what it does when it runs.
import { Argument, InvalidArgumentError, Option, type Command } from "commander";
import { addServerOptions } from "../command/global-options.ts";
import { completes } from "../command/completion-sources.ts";
import { addOutputOptions } from "../output/output.ts";
import type { FindingsFlags } from "./image-findings.ts";
import type { SignaturesFlags } from "./image-signatures.ts";
import type { DecisionFlags } from "./signature-decision.ts";
import type { SbomFlags } from "./image-sbom.ts";
import type { Tasks } from "./tasks.ts";
import type { ListFlags } from "./lists.ts";
import { addListOptions } from "./options.ts";
import type { TaskFlags } from "./session.ts";
import { SEVERITIES } from "./severities.ts";

const ACTIONS = ["pull", "promote", "copy"];

/**
 * `list`, `inspect`, `size`, `base`, `referrers`, `sbom`, `findings`, `signatures`, `signature-decision` and
 * `coverage`.
 */
export const IMAGE_TASKS: Tasks = {
  names: [
    "list",
    "ls",
    "inspect",
    "size",
    "get-size",
    "base",
    "get-base",
    "referrers",
    "sbom",
    "findings",
    "signatures",
    "signature-decision",
    "coverage",
  ],
  add(noun) {
    addList(noun);
    addInspect(noun);
    addSize(noun);
    addBase(noun);
    addReferrers(noun);
    addSbom(noun);
    addFindings(noun);
    addSignatures(noun);
    addSignatureDecision(noun);
    addCoverage(noun);
  },
};

/** A command about one image. */
function aboutImage(noun: Command, name: string, description: string): Command {
  const argument = new Argument("<image>", "acme/app:1.2, acme/app@sha256:… or acme/app:1.2@2026-01-31");
  return noun.command(name).description(description).addArgument(completes(argument, "image"));
}

function addList(noun: Command): void {
  const command = noun
    .command("list")
    .alias("ls")
    .description("list images by their tags: of a repo, of a group and all groups below it, or all")
    .addArgument(completes(new Argument("[place]", "acme/team or acme/team/app"), "repo"));
  addOutputOptions(addServerOptions(addListOptions(command))).action(
    async (place: string | undefined, flags: ListFlags) => {
      const { printImages } = await import("./image-list.ts");
      await printImages(place, flags);
    },
  );
}

function addInspect(noun: Command): void {
  const command = aboutImage(
    noun,
    "inspect",
    "show what an image is: platforms, configuration, labels, layers, tags, what is attached to it, findings",
  );
  addOutputOptions(addServerOptions(command)).action(async (reference: string, flags: TaskFlags) => {
    const { inspectImage } = await import("./image-inspect.ts");
    await inspectImage(reference, flags);
  });
}

function addSize(noun: Command): void {
  const command = aboutImage(noun, "size", "show how many bytes a pull of each platform moves").alias("get-size");
  addOutputOptions(addServerOptions(command)).action(async (reference: string, flags: TaskFlags) => {
    const { printSizes } = await import("./image-size.ts");
    await printSizes(reference, flags);
  });
}

function addBase(noun: Command): void {
  const command = aboutImage(noun, "base", "show which images an image was built on")
    .alias("get-base")
    .option("--architecture <name>", "of this image of an index, such as amd64 or arm/v7");
  addOutputOptions(addServerOptions(command)).action(
    async (reference: string, flags: TaskFlags & { architecture?: string }) => {
      const { printBase } = await import("./image-base.ts");
      await printBase(reference, flags);
    },
  );
}

function addReferrers(noun: Command): void {
  const command = aboutImage(noun, "referrers", "list what is attached to an image: signatures, SBOMs, attestations")
    .option("--artifact-type <type>", "only those of this type, such as application/spdx+json")
    .option("--platform <platform>", "of this image of an index, such as linux/amd64");
  addOutputOptions(addServerOptions(command)).action(
    async (reference: string, flags: TaskFlags & { artifactType?: string; platform?: string }) => {
      const { printReferrers } = await import("./image-referrers.ts");
      await printReferrers(reference, flags);
    },
  );
}

function addSbom(noun: Command): void {
  const command = aboutImage(
    noun,
    "sbom",
    "print which packages an image holds, as a document; with -o table, wide or csv as a list",
  )
    .addOption(new Option("--format <format>", "of the document").choices(["cyclonedx", "spdx"]).default("cyclonedx"))
    .option("--architecture <name>", "of this image of an index, such as amd64 or arm/v7; all unless given")
    .option("--source <source>", "whose packages: layers, or the source of an attachment; what counts unless given")
    .addOption(completes(new Option("-f, --file <file>", "write the document there"), "file"));
  addOutputOptions(addServerOptions(command)).action(async (reference: string, flags: SbomFlags) => {
    const { printSbom } = await import("./image-sbom.ts");
    await printSbom(reference, flags);
  });
}

function addFindings(noun: Command): void {
  const command = aboutImage(noun, "findings", "list the vulnerabilities in an image, the worst first")
    .addOption(new Option("--min-severity <severity>", "only what is at least as bad").choices(SEVERITIES))
    .addOption(
      new Option(
        "--fail-on <severity>",
        "end with exit code 6 when something open is at least as bad, and with 8 when that is not known",
      ).choices(SEVERITIES),
    )
    .addOption(new Option("--state <state>", "which ones").choices(["open", "closed"]).default("open"))
    .option("--fixable", "only those that a version of the package fixes")
    .option("--kev", "only those that are known to be exploited")
    .option("--wait <duration>", "wait so long for an image that was not read yet, such as 60s");
  addOutputOptions(addServerOptions(command)).action(async (reference: string, flags: FindingsFlags) => {
    const { printFindings } = await import("./image-findings.ts");
    await printFindings(reference, flags);
  });
}

function addSignatures(noun: Command): void {
  const command = aboutImage(noun, "signatures", "list who has signed an image, what for, and whether that holds")
    .option("--as-of <time>", "what was attached and known then, such as 2026-01-31 or 2026-01-31T10:00:00Z")
    .option("--wait <duration>", "wait so long for signatures that were not verified yet, such as 60s");
  addOutputOptions(addServerOptions(command)).action(async (reference: string, flags: SignaturesFlags) => {
    const { printSignatures } = await import("./image-signatures.ts");
    await printSignatures(reference, flags);
  });
}

/** An action of signature policies in letters of any case, as flags of other commands take it. */
function actionOfFlag(text: string): string {
  const action = text.toLowerCase();
  if (!ACTIONS.includes(action)) throw new InvalidArgumentError(`Allowed choices are ${ACTIONS.join(", ")}.`);
  return action;
}

function addSignatureDecision(noun: Command): void {
  const description = "show whether signature policies block an image, and what each of them says, rule by rule";
  const command = aboutImage(noun, "signature-decision", description)
    .addOption(
      new Option("--action <action>", "what would be done").choices(ACTIONS).default("pull").argParser(actionOfFlag),
    )
    .option("--tag <tag>", "the tag that is to point to it; that of the image unless given");
  addOutputOptions(addServerOptions(command)).action(async (reference: string, flags: DecisionFlags) => {
    const { printDecision } = await import("./signature-decision.ts");
    await printDecision(reference, flags);
  });
}

function addCoverage(noun: Command): void {
  const command = aboutImage(
    noun,
    "coverage",
    "show what is known of an image: packages that no feed covers, files that could not be read or identified",
  );
  addOutputOptions(addServerOptions(command)).action(async (reference: string, flags: TaskFlags) => {
    const { printCoverage } = await import("./image-coverage.ts");
    await printCoverage(reference, flags);
  });
}
