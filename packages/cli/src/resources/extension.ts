// What a command made of a method can have besides: flags that stand for several fields of the resource.
import type { Command } from "commander";
import type { Names } from "../api/names.ts";
import type { JsonObject, RestClient } from "../api/rest.ts";

/** A run of a command with an extension, before its request is made. */
export interface Extended {
  readonly rest: RestClient;
  readonly names: Names;
  readonly flags: Readonly<Record<string, unknown>>;
  /** The arguments, in the order of the method's. */
  readonly words: readonly (string | undefined)[];
  /** The flags of fields that were given, such as `--claim-match-issuer`. */
  readonly fieldFlags: readonly string[];
}

/** What an extension's flags come to. */
export interface Extra {
  /** The resource, as a file would have it. */
  readonly resource?: JsonObject;
  /** Flags that take the place of those that were given, by their attributes. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Does what is left when the resource was made, and prints it in place of the resource as a table. */
  finish?(answer: JsonObject): Promise<void>;
}

/** The extension of one verb. */
export interface Extension {
  /** A command line that shows it. */
  readonly example?: string;
  addOptions?(command: Command): void;
  /** Undefined when none of its flags is given. Throws a UsageFailure for flags that cannot be. */
  begin(run: Extended): Promise<Extra | undefined>;
}
