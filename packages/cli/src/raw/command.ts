// `moorage api`: any path of the server, with the caller's token.
import type { Command } from "commander";
import { UsageFailure } from "../command/failure.ts";
import { addServerOptions } from "../command/global-options.ts";
import type { RawFlags } from "./raw.ts";

const VERB = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/;

/** Adds `moorage api`. */
export function addApi(program: Command): void {
  addServerOptions(
    program
      .command("api")
      .description(
        "Send a request to any path of the server, with your token: of the API, and of the registry below /v2/. The response is printed as it came; on a terminal JSON is indented.",
      )
      .argument("<method>", "GET, POST, PATCH, PUT, DELETE or HEAD; may be left out for GET")
      .argument("[path]", "such as /registry/v2/repos")
      .option("-q, --query <key=value>", "a parameter (repeatable)", collect)
      .option("-f, --file <file>", "the body: a file with JSON or anything else; - for standard input")
      .option("-H, --header <header>", "a header, such as 'accept: text/plain' (repeatable)", collect)
      .option("--paginate", "ask for all pages of a list, and print one after the other")
      .option("-i, --include", "print the status and the headers too")
      .option("--jq <filter>", "print what this filter of jq selects of the JSON"),
  )
    .addHelpText(
      "after",
      "\nExamples:\n  moorage api /registry/v2/repos -q name=app\n  moorage api POST /iam/v2/groups -f group.json\n  moorage api HEAD /v2/acme/app/manifests/latest -i",
    )
    .action(async (method: string, path: string | undefined, flags: RawFlags) => {
      const verb = path === undefined ? undefined : method.toUpperCase();
      if (verb !== undefined && !VERB.test(verb))
        throw new UsageFailure(`must be GET, POST, PATCH, PUT, DELETE or HEAD, not ${method}`, { field: "method" });
      const place = path ?? method;
      if (!place.startsWith("/"))
        throw new UsageFailure(`must begin with /, as /registry/v2/repos does, not be ${place}`, { field: "path" });
      const { sendRaw } = await import("./raw.ts");
      await sendRaw(verb ?? (flags.file === undefined ? "GET" : "POST"), place, flags);
    });
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
