import type { Transactor } from "../core/transactor.ts";

/** The transactor; `written` is called after each of its commands that may have made something to deliver. */
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
