import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { CallToolResult, McpServer, StandardSchemaWithJSON, ToolAnnotations } from "@modelcontextprotocol/server";
import type { ZodObject, z } from "zod";
import { effectOf } from "@moorage/kernel/core/effect";
import { NAME_METHODS } from "./find-resources.ts";
import type { CallMethod } from "./method-calls.ts";
import { toolError } from "./tool-error.ts";

/** What a tool works with. */
interface ToolContext {
  /** Calls a method of the tool, as the caller. */
  call: CallMethod;
  /** The identity of the caller. */
  identity: string;
  /** The host of the registry, as it stands before the names of images. */
  registryHost: string;
}

/** What a tool answers. */
interface ToolAnswer<O> {
  /** The answer, by the tool's output schema. */
  answer: O;
  /** The same in a few lines, for people and for clients that do not read structured content. */
  text: string;
  /** The uid of what the call was about, for the audit log; empty when it is about nothing in particular. */
  resource: string;
}

/** A tool before it is defined. */
export interface ToolDefinition<I extends ZodObject, O extends ZodObject> {
  name: string;
  /** Defaults to the title of the first method. */
  title?: string;
  description: string;
  input: I;
  output: O;
  /** The methods that it calls beside those that look names up; its annotations are made of these. */
  methods: readonly [DescMethodUnary, ...DescMethodUnary[]];
  run(context: ToolContext, input: z.output<I>): Promise<ToolAnswer<z.output<O>>>;
}

/** How the calls of tools are run. */
export interface ToolRunner {
  contextOf(tool: Tool): ToolContext;
  /** Called after each call. `resource`: the uid that it was about. `error`: what the tool failed with. */
  done(tool: Tool, resource: string, error?: unknown): void;
  /** The code and message of an error that nobody expected, without its details. */
  shown(error: unknown): unknown;
}

/** A tool of the MCP server. */
export interface Tool {
  name: string;
  annotations: Required<ToolAnnotations>;
  /** All methods that it may call. */
  methods: ReadonlySet<DescMethodUnary>;
  register(server: McpServer, runner: ToolRunner): void;
}

/** Defines a tool. Throws for one of a method that does not say what it changes. */
export function defineTool<I extends ZodObject, O extends ZodObject>(definition: ToolDefinition<I, O>): Tool {
  const { name, description, input, output, methods, run } = definition;
  const effects = methods.map(effectOf);
  const title = definition.title ?? effects[0]?.title ?? name;
  const tool: Tool = {
    name,
    annotations: {
      title,
      readOnlyHint: effects.every(({ readOnly }) => readOnly),
      destructiveHint: effects.some(({ destructive }) => destructive),
      idempotentHint: effects.every(({ idempotent }) => idempotent),
      openWorldHint: effects.some(({ openWorld }) => openWorld),
    },
    methods: new Set([...methods, ...NAME_METHODS]),
    register(server, runner) {
      const inputSchema: StandardSchemaWithJSON = input;
      const config = { title, description, inputSchema, outputSchema: output, annotations: tool.annotations };
      server.registerTool(name, config, async (given): Promise<CallToolResult> => {
        try {
          // The server has checked them already; here they get their type.
          const { answer, text, resource } = await run(runner.contextOf(tool), input.parse(given));
          runner.done(tool, resource);
          return { structuredContent: answer, content: [{ type: "text", text }] };
        } catch (error) {
          runner.done(tool, "", error);
          return toolError(runner.shown(error));
        }
      });
    },
  };
  return tool;
}
