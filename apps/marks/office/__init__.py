"""The contest office of captains and organisers: record, results, names, statistics, exports, changes of a used scheme."""
