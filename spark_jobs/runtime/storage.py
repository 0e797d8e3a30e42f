"""Small files on any file system that Hadoop reads: local, HDFS, S3."""

import os
from contextlib import closing
from typing import Any, List, Tuple

from pyspark.sql import SparkSession

from spark_jobs.runtime.jvm import java

NEXT = ".next"  # ends the name of a local file that is being written


def read_text(spark: SparkSession, path: str) -> str:
    """The whole file as text; a Java FileNotFoundException when it is missing."""
    system, location = located(spark, path)
    with closing(system.open(location)) as stream:
        return str(java(spark, "org.apache.commons.io.IOUtils").toString(stream, "UTF-8"))


def write_text(spark: SparkSession, path: str, text: str) -> None:
    """Replaces the file; a reader sees the old one or the new one.

    An object store shows an object when it is closed. For local files that takes a rename, and Hadoop's deletes
    the old file before it moves the new one.
    """
    system, location = located(spark, path)
    if system.getScheme() == "file":
        _write_local(str(location.toUri().getPath()), text)
    else:
        with closing(system.create(location, True)) as stream:
            stream.write(bytearray(text.encode("utf-8")))


def exists(spark: SparkSession, path: str) -> bool:
    """True if there is a file or a folder."""
    system, location = located(spark, path)
    return bool(system.exists(location))


def has_files(spark: SparkSession, folder: str) -> bool:
    """True if there is a file in the folder or below it; a Java FileNotFoundException when it is missing."""
    system, location = located(spark, folder)
    return bool(system.listFiles(location, True).hasNext())


def names(spark: SparkSession, folder: str) -> List[str]:
    """The names in a folder; empty when there is no such folder."""
    return [str(one.getPath().getName()) for one in _listed(spark, folder)]


def modified(spark: SparkSession, folder: str) -> List[Tuple[str, float]]:
    """Names and modification times (s, by the storage's own clock) of the files in a folder; empty without folder."""
    files = [one for one in _listed(spark, folder) if one.isFile()]
    found = [(str(one.getPath().getName()), one.getModificationTime() / 1000.0) for one in files]
    return [(name, changed) for name, changed in found if not name.endswith(NEXT)]


def rename(spark: SparkSession, source: str, target: str) -> None:
    """Moves one file, and replaces the target if it exists."""
    system, location = located(spark, source)
    final = _path(spark, target)
    system.mkdirs(final.getParent())
    if system.exists(final):
        system.delete(final, False)
    if not system.rename(location, final):
        raise IOError("could not rename {} to {}".format(source, target))


def delete(spark: SparkSession, path: str) -> None:
    """Deletes a file or a whole folder, if it is there."""
    system, location = located(spark, path)
    system.delete(location, True)


def located(spark: SparkSession, path: str) -> Tuple[Any, Any]:
    """Hadoop's FileSystem of a path, and the path (a Java Path)."""
    location = _path(spark, path)
    return location.getFileSystem(spark._jsc.hadoopConfiguration()), location


def _listed(spark: SparkSession, folder: str) -> List[Any]:
    system, location = located(spark, folder)
    return list(system.listStatus(location)) if system.exists(location) else []


def _write_local(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + NEXT, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.replace(path + NEXT, path)


def _path(spark: SparkSession, path: str) -> Any:
    return java(spark, "org.apache.hadoop.fs.Path")(path)
