import { useMemo } from "react";
import type { Column } from "./column.ts";
import styles from "./data-table.module.css";
import { useIsPhone } from "./phone.ts";

type Columns<Row> = readonly Column<Row>[];

/** The columns that stand beside each other, and those that on phones are shown below the first one. */
export function useStacked<Row>(all: Columns<Row>): [Columns<Row>, Columns<Row>] {
  const isPhone = useIsPhone();
  return useMemo(() => {
    const isBelow = (column: Column<Row>): boolean => isPhone && column.below !== undefined;
    return [all.filter((column) => !isBelow(column)), all.filter(isBelow)];
  }, [all, isPhone]);
}

/** The class of a table with these columns below its first one. `isTall`: whether rows have two lines. */
export function tableClass(below: readonly unknown[], isTall: boolean): string {
  return [styles.table, isTall && styles.tall, below.length > 0 && styles.stacked].filter(Boolean).join(" ");
}
