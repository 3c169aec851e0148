// The commands made by hand of `moorage libraries`; each loads what it does when it runs.
import { Argument, Option, type Command } from "commander";
import { addServerOptions } from "../command/global-options.ts";
import { completes } from "../command/completion-sources.ts";
import { addOutputOptions } from "../output/output.ts";
import type { Tasks } from "./tasks.ts";
import type { LibraryFindingsFlags } from "./library-findings.ts";
import type { LibraryImagesFlags } from "./library-images.ts";
import { ECOSYSTEM_NAMES } from "./library-names.ts";
import { addListOptions, repeatable } from "./options.ts";
import { SEVERITIES } from "./severities.ts";

/** `images` and `findings`, which take names of libraries where the API takes uids. */
export const LIBRARY_TASKS: Tasks = {
  names: ["images", "list-images", "findings", "list-findings"],
  add(noun) {
    addImages(noun);
    addFindings(noun);
  },
};

const FORM = "left-pad, @acme/ui@1.2.0, org.example:app@1.0, or acme/team:flask of that group";

function addImages(noun: Command): void {
  const command = noun
    .command("images")
    .alias("list-images")
    .description("list the image tags that contain a library, or one version of it, and since when they do")
    .addArgument(new Argument("<library>", FORM));
  addOutputOptions(
    addServerOptions(addListOptions(placed(command, "only images of repos of this group and below"))),
  ).action(async (library: string, flags: LibraryImagesFlags) => {
    const { printLibraryImages } = await import("./library-images.ts");
    await printLibraryImages(library, flags);
  });
}

function addFindings(noun: Command): void {
  const command = noun
    .command("findings")
    .alias("list-findings")
    .description("list the vulnerabilities of versions of libraries, malware among them, and which versions fix them")
    .addArgument(new Argument("[library]", FORM))
    .addOption(
      repeatable("--vulnerability <id>", "only this one, by any of its ids, such as CVE-2021-44228; may repeat"),
    )
    .addOption(new Option("--min-severity <severity>", "only what is at least as bad").choices(SEVERITIES))
    .option("--fixable", "only those that a later version fixes")
    .option("--kev", "only those that are known to be exploited")
    .option("--malware", "only malware");
  addOutputOptions(addServerOptions(addListOptions(placed(command, "only libraries of this group and below")))).action(
    async (library: string | undefined, flags: LibraryFindingsFlags) => {
      const { printLibraryFindings } = await import("./library-findings.ts");
      await printLibraryFindings(library, flags);
    },
  );
}

function placed(command: Command, description: string): Command {
  return command
    .addOption(completes(new Option("--in <group>", description), "group"))
    .addOption(new Option("--ecosystem <name>", "where the library comes from").choices(ECOSYSTEM_NAMES));
}
