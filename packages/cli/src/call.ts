// `moorage call`: any method of the platform API over gRPC, with JSON in and out.
import type { Command } from "commander";
import { addServerOptions, type ServerFlags } from "./command/global-options.ts";

/** Adds `moorage call`. */
export function addCall(program: Command): void {
  addServerOptions(
    program
      .command("call")
      .description("call a method of the platform API over gRPC")
      .argument("<method>", "such as ReposService/ListRepos")
      .argument("[json]", "the request", "{}"),
  ).action(async (path: string, json: string, flags: ServerFlags) => {
    const { callMethod } = await import("./api-call.ts");
    await callMethod(path, json, flags);
  });
}
