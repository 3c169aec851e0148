import type { Ecosystem } from "../ecosystem/ecosystem.ts";
import type { LibraryExchange } from "./exchange.ts";

/** What a path is about: the path of the group, and more of the ecosystem's own. */
interface GroupPath {
  group: readonly string[];
}

/** The answer to a request, once it is known what is asked for. */
export interface Answer {
  /** Names what is asked for, in metrics: from a bounded set. */
  verb: string;
  /** By one of the orders of document.ts, file.ts and publish.ts, or in a way of the ecosystem's own. May throw. */
  answer(): Promise<void> | void;
}

/** What an ecosystem answers to its clients: the steps of a request. */
export interface Protocol<Path extends GroupPath = GroupPath> {
  /** Reads the path. Throws 404 where there can be nothing, 400, and 405. No caller is known yet. */
  paths(exchange: LibraryExchange): Path;
  /** What is asked for, and how it is answered. The caller is known. Throws 404 and 405. */
  answerTo(exchange: LibraryExchange, path: Path): Promise<Answer> | Answer;
}

/** An ecosystem with what it answers, which is loaded with its first request. */
export interface ServedEcosystem extends Ecosystem {
  /** The body of an error, in the form that the ecosystem's clients print. */
  errorBody(message: string): { contentType: string; text: string };
  // oxlint-disable-next-line typescript/no-explicit-any -- only the protocol itself knows what its paths are
  protocol(): Promise<Protocol<any>>;
}
