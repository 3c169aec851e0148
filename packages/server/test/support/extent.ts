/** True in `npm run test:all` and each night, which take the time for more values, more rows and more rounds. */
const LONG = process.env["MOORAGE_TEST_LONG"] === "1";

/** The size of a test, or what it is done with: `long` where LONG is true; `short` in `npm test` and `.ci/run`. */
export function sized<T>(short: T, long: T): T {
  return LONG ? long : short;
}
