import type { Transactor } from "../core/transactor.ts";

/** Wraps the transactor: calls `written` after each command that may have created events or deliveries. */
export function wakingTransactor(transactor: Transactor, written: () => void): Transactor {
  return {
    read: (data, work) => transactor.read(data, work),
    write(command, data, input) {
      const answer = transactor.write(command, data, input);
      if (command.wakesDelivery) answer.then(written, () => {});
      return answer;
    },
  };
}
