/** True in `npm run test:all`, which takes the time for more values, more rows and more rounds than `npm test`. */
const LONG = process.env["MOORAGE_TEST_LONG"] === "1";

/** The size of a test, or what it is done with: the first in `npm test`, the second in `npm run test:all`. */
export function sized<T>(short: T, long: T): T {
  return LONG ? long : short;
}
